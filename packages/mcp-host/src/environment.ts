/** Flat names and values, as `process.env` is. */
export type Environment = Readonly<Record<string, string | undefined>>

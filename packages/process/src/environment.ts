/** Environment variables, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses a date, a time of ISO 8601, or an age such as `12h`; `undefined` for other text. */
export function parseTime(text: string, now: number): Date | undefined {
  const ago = /^(\d{1,6})([mhd])$/.exec(text)
  if (ago !== null) return new Date(now - Number(ago[1]) * UNITS_MS[ago[2] as 'm' | 'h' | 'd'])
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time
}

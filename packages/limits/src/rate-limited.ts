import type { Rate } from './parse-rate.ts'

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
]

/** The standard message for a caller over a rate. `reason`: the exceeded limit, and the time of a retry. */
export function rateLimited(reason: string): string {
  return `Too many requests: ${reason}`
}

/** The reason for a caller that is over a rate. `what`: the counted unit, in the plural. */
export function describeLimit({
  rate: { permits, windowMs },
  what,
  retryAfterMs,
}: {
  readonly rate: Rate
  readonly what: string
  readonly retryAfterMs: number
}): string {
  const [, unit = 'second'] = UNITS.find(([ms]) => ms === windowMs) ?? []
  return `${permits} ${what} are allowed per ${unit}; try again in ${duration(retryAfterMs)}`
}

function duration(ms: number): string {
  const [unit, name] = UNITS.find(([each]) => ms > each) ?? [1_000, 'second']
  const count = Math.ceil(ms / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

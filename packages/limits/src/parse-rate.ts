/** A number of permits in each window of time. */
export interface Rate {
  readonly permits: number
  readonly windowMs: number
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
const RATE = /^([1-9]\d{0,11})\/([smhd])$/

/** The rate of a text such as `100/s`, `60/m` or `1000000/d`; `undefined` for other texts. */
export function parseRate(text: string): Rate | undefined {
  const [, permits, unit = ''] = RATE.exec(text) ?? []
  const windowMs = UNITS.get(unit)
  return permits === undefined || windowMs === undefined
    ? undefined
    : { permits: Number(permits), windowMs }
}

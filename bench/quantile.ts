/** The value at a quantile, rounded to two decimals. `NaN` without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return Math.round(value * 100) / 100
}

const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99, max: 1 }
type Quantile = keyof typeof SHARES

/** Several quantiles of the same values, by name. */
export function quantiles<Name extends Quantile>(
  values: readonly number[],
  ...names: readonly Name[]
): Record<Name, number> {
  const entries = names.map((name) => [name, quantile(values, SHARES[name])])
  return Object.fromEntries(entries) as Record<Name, number>
}

/** The time since `start`, a value of `performance.now()`, for people: `12.3 s`. */
export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1_000).toFixed(1)} s`
}

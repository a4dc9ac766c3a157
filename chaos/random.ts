/** A number from 0 to below 1. */
export type Random = () => number

/** A generator whose numbers depend on the seed and the name alone. */
export function seededRandom(seed: number, name: string): Random {
  let state = seed >>> 0
  // FNV-1a: similar names get very different states.
  for (const letter of name) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193)
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number from `low` to `high`, both included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

/** Draws every value once in random order, then starts over, so that all are drawn equally often. */
export function shuffleBag<T>(random: Random, values: readonly T[]): () => T {
  let left: T[] = []
  return () => {
    if (left.length === 0) left = [...values]
    const [drawn] = left.splice(between(random, 0, left.length - 1), 1)
    if (drawn === undefined) throw new Error('there are no values to draw')
    return drawn
  }
}

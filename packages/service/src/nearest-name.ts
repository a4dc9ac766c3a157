/** The first candidate with the smallest edit distance from a name, at most `limit`. */
export function nearestName(
  name: string,
  candidates: Iterable<string>,
  limit = Infinity,
): string | undefined {
  let nearest: string | undefined
  let smallest = limit
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate)
    if (distance > smallest || (distance === smallest && nearest !== undefined)) continue
    nearest = candidate
    smallest = distance
  }
  return nearest
}

/** The number of letters to add, remove or replace. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

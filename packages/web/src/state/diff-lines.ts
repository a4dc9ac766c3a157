/** A line of two texts: in both, in the first alone, or in the second alone. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Above so many pairs of lines that differ, no lines between are matched. */
const MAX_PAIRS = 4_000_000

/** The lines of two texts, with as many as possible in both. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start++
  let end = 0
  const rest = Math.min(old.length, young.length) - start
  while (end < rest && old.at(-1 - end) === young.at(-1 - end)) end++
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [
    ...old.slice(0, start).map(same),
    ...diffMiddle(old.slice(start, old.length - end), young.slice(start, young.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

function diffMiddle(old: readonly string[], young: readonly string[]): DiffLine[] {
  const lengths = old.length * young.length > MAX_PAIRS ? undefined : commonLengths(old, young)
  const lines: DiffLine[] = []
  let [at, to] = [0, 0]
  while (at < old.length || to < young.length) {
    const [one, other] = [old[at], young[to]]
    if (one !== undefined && one === other) {
      lines.push({ kind: 'same', text: one })
      at++
      to++
    } else if (one !== undefined && isBetterRemoved(lengths, at, to)) {
      lines.push({ kind: 'removed', text: one })
      at++
    } else if (other !== undefined) {
      lines.push({ kind: 'added', text: other })
      to++
    } else if (one !== undefined) {
      lines.push({ kind: 'removed', text: one })
      at++
    }
  }
  return lines
}

/** Whether more lines are in both when the next line of the first text is removed. */
function isBetterRemoved(
  lengths: readonly (readonly number[])[] | undefined,
  at: number,
  to: number,
): boolean {
  if (lengths === undefined) return true
  return (lengths[at + 1]?.[to] ?? 0) >= (lengths[at]?.[to + 1] ?? 0)
}

/** For each pair of places, how many lines after them can be in both texts. */
function commonLengths(old: readonly string[], young: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () =>
    Array.from({ length: young.length + 1 }, () => 0),
  )
  for (let at = old.length - 1; at >= 0; at--) {
    const [row = [], below = []] = [lengths[at], lengths[at + 1]]
    for (let to = young.length - 1; to >= 0; to--) {
      const isSame = old[at] === young[to]
      row[to] = isSame ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0)
    }
  }
  return lengths
}

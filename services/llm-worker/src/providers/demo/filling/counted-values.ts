import type { Word } from '../reading/clause.ts'
import { nameWords, stem } from '../reading/words.ts'
import { convert } from './convert.ts'
import type { Draft } from './draft.ts'
import { leafWords } from './leaf.ts'
import type { Leaf } from './leaf.ts'

/** "3 steps", "10 seconds": a number before an argument's name, or before a word that describes it. */
export function fillCounted(draft: Draft): void {
  const { words, literals } = draft.clause
  for (const number of literals) {
    if (number.kind !== 'number' || !draft.isFree(number)) continue
    const next = words.find(({ start }) => start >= number.end)
    const previous = words.findLast(({ end }) => end <= number.start)
    const scored = draft.leaves
      .filter((leaf) => isNumber(leaf) && draft.isOpen(leaf))
      .map((leaf) => ({ leaf, score: fit(leaf, next, previous) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
    const [best, second] = scored
    // "5 lines" may be the first or the last ones: then neither.
    if (best === undefined || best.score === second?.score) continue
    const value = convert(number.value, best.leaf.field)
    if (value !== undefined) draft.set(best.leaf.path, value, 'named', number)
  }
}

function isNumber({ field: { kind } }: Leaf): boolean {
  return kind === 'number' || kind === 'integer'
}

function fit(leaf: Leaf, next: Word | undefined, previous: Word | undefined): number {
  if (next === undefined) return 0
  const described = new Set(nameWords(leaf.field.description).map(stem))
  const isNamed = leafWords(leaf).map(stem).includes(next.stem)
  if (!isNamed && !(described.has(next.stem) && next.text.length > 3)) return 0
  return (isNamed ? 2 : 1) + (previous !== undefined && described.has(previous.stem) ? 0.5 : 0)
}

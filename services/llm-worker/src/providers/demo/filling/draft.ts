import type { Clause } from '../reading/clause.ts'
import { overlaps } from '../reading/literals.ts'
import type { Span } from '../reading/literals.ts'
import type { Json } from './field.ts'
import { leafKey } from './leaf.ts'
import type { Leaf } from './leaf.ts'

/** How sure a value is, best first. */
export type Source = 'named' | 'looks' | 'phrase' | 'rest' | 'default'

/** Arguments while they are being filled. No stretch of the clause is used twice. */
export interface Draft {
  readonly clause: Clause
  readonly leaves: readonly Leaf[]
  /** The words that name the tool. */
  readonly name: readonly Span[]
  isOpen(leaf: Leaf): boolean
  isFree(span: Span): boolean
  valueAt(path: Leaf['path']): Json | undefined
  sourceOf(leaf: Leaf): Source | undefined
  set(path: Leaf['path'], value: Json, source: Source, ...spans: readonly Span[]): void
  readonly taken: readonly Span[]
}

export function newDraft(clause: Clause, leaves: readonly Leaf[], name: readonly Span[]): Draft {
  const values = new Map<string, { value: Json; source: Source }>()
  const taken: Span[] = []
  return {
    clause,
    leaves,
    name,
    taken,
    isOpen: ({ path }) => path.every((_, depth) => !values.has(leafKey(path.slice(0, depth + 1)))),
    isFree: (span) => !taken.some((other) => overlaps(span, other)),
    valueAt: (path) => values.get(leafKey(path))?.value,
    sourceOf: ({ path }) => values.get(leafKey(path))?.source,
    set(path, value, source, ...spans) {
      values.set(leafKey(path), { value, source })
      taken.push(...spans)
    },
  }
}

import type { Span } from '../reading/literals.ts'
import type { Draft } from './draft.ts'
import { isFreeText, isPathLike, leafWords } from './leaf.ts'
import type { Leaf } from './leaf.ts'

/** What an argument is likely to be called when its value follows the preposition. */
const HINTS: ReadonlyMap<string, RegExp> = new Map([
  ['from', /^(?:from|source|src|origin|start|old|since|sender)$/],
  ['to', /^(?:to|destination|dest|target|recipient|receiver|end|new|until|into)$/],
  ['into', /^(?:into|to|destination|dest|target|language|lang)$/],
  [
    'in',
    /^(?:in|city|location|place|where|path|dir|directory|folder|country|region|state|language|lang|zone|timezone|channel|repo|repository|project|area|town)$/,
  ],
  ['at', /^(?:at|location|place|address|time|path)$/],
  ['near', /^(?:near|city|location|place)$/],
  [
    'for',
    /^(?:for|query|topic|subject|term|keyword|name|user|symbol|city|location|pattern|id|word)$/,
  ],
  ['about', /^(?:about|query|topic|subject|term|title|name|keyword)$/],
  ['of', /^(?:of|name|city|subject|symbol|country|id|location|word|path)$/],
  ['on', /^(?:on|date|day|topic|subject)$/],
  ['by', /^(?:by|author|user|creator)$/],
  ['with', /^(?:with|content|contents|replacement|new)$/],
  ['called', /^(?:name|title|path|file|directory|folder)$/],
  ['named', /^(?:name|title|path|file|directory|folder)$/],
  ['saying', /^(?:message|text|content|body|comment|note)$/],
])

export const PREPOSITION = [...HINTS.keys()].join('|')

interface Phrase extends Span {
  readonly preposition: string
  readonly text: string
}

/** "in Oslo", "about the weather", "called notes": what follows a preposition, for the open arguments. */
export function fillFromPhrases(draft: Draft, take: (leaf: Leaf, phrase: Phrase) => boolean): void {
  const wanting = (leaf: Leaf) => draft.isOpen(leaf) && acceptsPhrase(leaf)
  for (const leaf of draft.leaves.filter(wanting)) {
    // "cats in the garden" is what is searched for rather than an optional place to search.
    const isOthers = !leaf.isRequired && isPathLike(leaf)
    if (isOthers && draft.leaves.some((one) => one.isRequired && wanting(one))) continue
    const phrase = phrasesOf(draft, leaf).find((one) => isHinted(leaf, one.preposition))
    if (phrase !== undefined) take(leaf, phrase)
  }
  for (const leaf of draft.leaves.filter(
    (one) => wanting(one) && one.isRequired && !isFreeText(one),
  )) {
    const phrases = phrasesOf(draft, leaf).filter(
      ({ preposition }) => !isPathLike(leaf) || !/^(?:about|for|by|with|saying)$/.test(preposition),
    )
    const phrase = phrases.find(({ text }) => /^\p{Lu}/u.test(text)) ?? phrases[0]
    if (phrase !== undefined) take(leaf, phrase)
  }
}

function acceptsPhrase({ field }: Leaf): boolean {
  if (field.options !== undefined) return false
  const kind = field.kind === 'array' ? field.items?.kind : field.kind
  return kind === 'string' || kind === 'any'
}

/** Whether the preposition announces this argument. */
export function isHinted(leaf: Leaf, preposition: string): boolean {
  const words = leafWords(leaf)
  return words.some((word) => HINTS.get(preposition)?.test(word) === true)
}

/** Where in the text a preposition announces one of the leaves, -1 when nowhere. */
export function hintsAt(text: string, leaves: readonly Leaf[]): number {
  const pattern = new RegExp(`\\s(${PREPOSITION})\\s`, 'gi')
  for (const match of text.matchAll(pattern)) {
    const preposition = (match[1] ?? '').toLowerCase()
    if (leaves.some((leaf) => leaf.isRequired && isHinted(leaf, preposition))) return match.index
  }
  return -1
}

function phrasesOf(draft: Draft, leaf: Leaf): Phrase[] {
  const { text, literals } = draft.clause
  // What the last open argument is about may contain prepositions: "the history of Rome".
  const isOnly = !draft.leaves.some((one) => one !== leaf && one.isRequired && draft.isOpen(one))
  const found: Phrase[] = []
  for (const match of text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(${PREPOSITION})\\s+`, 'giu'))) {
    const preposition = (match[1] ?? '').toLowerCase()
    const start = match.index + match[0].length
    if (literals.some((one) => one.kind !== 'number' && one.start <= start && start < one.end))
      continue
    const goesOn = isOnly && /^(?:about|for|of|saying)$/.test(preposition) && !isPathLike(leaf)
    const limit = Math.min(
      text.length,
      ...[...draft.taken, ...literals.filter(({ kind }) => kind !== 'number')]
        .map((span) => span.start)
        .filter((position) => position >= start),
    )
    const whole = text.slice(start, limit)
    const cut = goesOn ? -1 : whole.search(PHRASE_END)
    const raw = cut < 0 ? whole : whole.slice(0, cut)
    const [article = ''] = isFreeText(leaf) ? [] : (ARTICLES.exec(raw) ?? [])
    const value = trimTail(raw.slice(article.length))
    if (!/[\p{L}\p{N}]/u.test(value)) continue
    const end = start + article.length + value.length
    const span = { start: start + article.length, end }
    if (!draft.isFree(span)) continue
    found.push({ preposition, text: value, start: match.index, end })
  }
  return found
}

const ARTICLES = /^(?:(?:the|a|an|my|our|your)\s+)*/i
const PHRASE_END = new RegExp(`[,;?!]|\\s(?:and\\s+(?:${PREPOSITION})|${PREPOSITION})\\s`, 'i')

function trimTail(text: string): string {
  return text
    .replace(/[\s,;:.!?]+$/, '')
    .replace(
      /(?:[\s,]+(?:please|now|today|tomorrow|currently|right now|at the moment|thanks|and|with|as|the|like|for|in|on|at|to|from|of|by))+$/i,
      '',
    )
    .replace(/\s+(?:folder|directory|file)$/i, '')
    .replace(/[\s,;:.!?]+$/, '')
}

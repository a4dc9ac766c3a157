import { findMentions } from '../filling/mention.ts'
import type { Clause, Word } from '../reading/clause.ts'
import { overlaps } from '../reading/literals.ts'
import type { Span } from '../reading/literals.ts'
import { areSynonyms } from '../reading/synonyms.ts'
import { isStopWord, nameWords } from '../reading/words.ts'
import type { IndexedTool, ToolIndex } from './tool-index.ts'

/** A word of the clause and where the tool has it. */
export interface Match {
  readonly word: string
  readonly where: 'name' | 'arguments' | 'description'
}

export interface ToolScore {
  readonly tool: IndexedTool
  readonly score: number
  readonly matches: readonly Match[]
  /** The words of the clause that name the tool. */
  readonly nameSpans: readonly Span[]
  /** Called by its very name. */
  readonly isNamed: boolean
  /** More than words that could mean anything, like "get" and "show". */
  readonly hasEvidence: boolean
}

const NAME = 3
const ARGUMENTS = 1.2
const DESCRIPTION = 1
const FIRST_WORD = 1.6
const SYNONYM = 0.7
const UNMATCHED_NAME_WORD = 0.5
const CALLED_BY_NAME = 6
const DEPRECATED = 0.8

/** Further on, the words are what the tool is to work on. */
const MAX_WORDS = 40

/** Verbs that say what to do with anything. */
const GENERIC = new Set(
  'list show get fetch run call do make giv tell find what which display view see print return'.split(
    ' ',
  ),
)

/** What of a clause tells the tools apart; read once for all of them. */
export interface Query {
  readonly clause: Clause
  readonly words: readonly Word[]
  readonly hints: readonly string[]
}

export function readQuery(clause: Clause): Query {
  return { clause, words: contentWords(clause).slice(0, MAX_WORDS), hints: kindHints(clause) }
}

export function scoreTool(query: Query, tool: IndexedTool, index: ToolIndex): ToolScore {
  const { clause } = query
  const matches: Match[] = []
  const nameSpans: Span[] = []
  const matched = new Set<string>()
  let score = 0
  let evidence = 0
  query.words.forEach((word, position) => {
    const best = bestMatch(word, tool, index)
    if (best === undefined) return
    score += best.weight * (position === 0 ? FIRST_WORD : 1)
    matches.push({ word: word.text, where: best.where })
    if (best.where === 'name') {
      nameSpans.push(word)
      matched.add(best.stem)
    }
    if (!GENERIC.has(word.stem)) evidence += best.where === 'name' ? 2 : 1
    else if (position > 0 || matches.length === 1) evidence += 0.5
  })
  for (const hint of query.hints) {
    if (tool.name.has(hint) && !matched.has(hint)) {
      score += NAME * 0.3 * index.rarity(hint)
      matched.add(hint)
      evidence += 1
    } else if (tool.description.has(hint)) score += DESCRIPTION * 0.3 * index.rarity(hint)
  }
  for (const word of tool.name) {
    if (!matched.has(word)) score -= UNMATCHED_NAME_WORD * index.rarity(word)
  }
  if (tool.isDeprecated) score -= DEPRECATED
  const mention = namedAt(clause, tool)
  if (mention !== undefined) {
    // The longer name counts more: "list_all" is no call of "list".
    const words = nameWords(clause.text.slice(mention.start, mention.end))
    score += CALLED_BY_NAME + 0.5 * words.length
  }
  return {
    tool,
    score,
    matches,
    nameSpans: mention === undefined ? nameSpans : [mention, ...callWords(clause, mention)],
    isNamed: mention !== undefined,
    hasEvidence: mention !== undefined || evidence >= 1.5,
  }
}

/** The words that may tell the tools apart, each once. */
function contentWords({ words }: Clause): Word[] {
  const seen = new Set<string>()
  return words.filter((word) => {
    if ((isStopWord(word.text) && !/^(?:what|which)$/.test(word.text)) || seen.has(word.stem))
      return false
    seen.add(word.stem)
    return !/^\d+$/.test(word.text)
  })
}

interface BestMatch {
  readonly stem: string
  readonly where: Match['where']
  readonly weight: number
}

function bestMatch(word: Word, tool: IndexedTool, index: ToolIndex): BestMatch | undefined {
  const places = [
    { where: 'name', stems: tool.name, worth: NAME },
    { where: 'arguments', stems: tool.argumentNames, worth: ARGUMENTS },
    { where: 'description', stems: tool.description, worth: DESCRIPTION },
  ] as const
  let best: BestMatch | undefined
  for (const { where, stems, worth } of places) {
    const isExact = stems.has(word.stem)
    const stem = isExact ? word.stem : stems.values().find((one) => areSynonyms(one, word.stem))
    if (stem === undefined) continue
    const weight = worth * index.rarity(stem) * (isExact ? 1 : SYNONYM)
    if (best === undefined || weight > best.weight) best = { stem, where, weight }
  }
  return best
}

/** "examples/files" is a folder by its looks, "a.txt" a file. */
function kindHints({ literals }: Clause): string[] {
  const hints = literals.flatMap(({ kind, value }) => {
    if (kind === 'path') return /\.[a-z][a-z0-9]*$/i.test(value) ? ['fil'] : ['directory']
    return kind === 'url' || kind === 'email' ? [kind] : []
  })
  return [...new Set(hints)]
}

/** Where the tool is called by its full name. One word alone may be an ordinary one. */
function namedAt(clause: Clause, { offered }: IndexedTool): Span | undefined {
  const names = [offered.safeName, `${offered.server} ${offered.tool}`, offered.tool]
  return names
    .flatMap((name) =>
      findMentions(clause, name).filter(
        (span) => nameWords(name).length > 1 || isCalled(clause, span),
      ),
    )
    .toSorted((one, other) => other.end - other.start - (one.end - one.start))[0]
}

const CALL =
  /(?:^|[\s,])(?:(?:call|run|use|using|invoke|execute|try)(?:\s+the)?(?:\s+tool)?|tool)\s+["'`]?$/i

function isCalled({ text }: Clause, { start, end }: Span): boolean {
  if (CALL.test(text.slice(Math.max(0, start - 40), start))) return true
  return /^["'`]?(?:\s+tool\b|\s*:|\s*\{)/i.test(text.slice(end, end + 10))
}

function callWords({ text, words }: Clause, mention: Span): Span[] {
  const before = CALL.exec(text.slice(0, mention.start))
  const span = { start: before?.index ?? mention.start, end: mention.start }
  const after = words.find(({ start }) => start >= mention.end)
  const isTool = after?.text === 'tool' && text.slice(mention.end, after.start).trim().length <= 1
  return [
    ...words.filter((word) => before !== null && overlaps(word, span)),
    ...(after !== undefined && isTool ? [after] : []),
  ]
}

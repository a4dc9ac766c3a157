import type { OfferedTool } from '@mcp-host/contracts'
import { ToolIndex } from '@mcp-host/tool-search'
import { isLiteral } from './convert.ts'
import type { FilledArguments } from './fill-arguments.ts'
import { fillArguments } from './fill-arguments.ts'
import { readFields } from './schema-fields.ts'
import type { Clause, Range } from './sentence.ts'
import { findMentions, isGenericVerb, isStopWord, wordsOf } from './sentence.ts'

export type Choice =
  | {
      readonly kind: 'call'
      readonly tool: OfferedTool
      readonly arguments: FilledArguments['arguments']
      /** The words of the sentence that chose the tool. */
      readonly words: readonly string[]
    }
  /** The tool is clear, a required argument is not. */
  | { readonly kind: 'incomplete'; readonly tool: OfferedTool; readonly missing: readonly string[] }
  | { readonly kind: 'none' }

/** Tools of a search that are compared in detail. */
const CANDIDATES = 20
/** Below this the words fit by chance. */
const THRESHOLD = 1.5
/** Words before the name of a tool. */
const CALL = /^(?:call|execute|invoke|run|tool|try|use)$/i

/** The tool that a sentence names, else the one whose name and description have most of its words. */
export function chooseTool(clause: Clause, tools: readonly OfferedTool[]): Choice {
  const named = findNamed(clause, tools)
  if (named !== undefined) {
    const { missing, ...filled } = fillArguments(clause, named.tool.inputSchema, {
      name: named.range,
    })
    const { tool, words } = named
    if (missing.length > 0) return { kind: 'incomplete', tool, missing }
    return { kind: 'call', tool, arguments: filled.arguments, words }
  }
  const [best] = findByWords(clause, tools)
    .map(({ score, ranges, ...found }) => {
      const [name] = findMentions(clause.tokens, found.tool.tool)
      const chosenBy = name === undefined ? { words: ranges } : { name }
      const filled = fillArguments(clause, found.tool.inputSchema, chosenBy)
      return { ...found, ...filled, score: score - filled.unused }
    })
    .filter(({ missing }) => missing.length === 0)
    .toSorted((one, other) => other.score - one.score)
  return best === undefined
    ? { kind: 'none' }
    : { kind: 'call', tool: best.tool, arguments: best.arguments, words: best.words }
}

interface Found {
  readonly tool: OfferedTool
  readonly words: readonly string[]
}

/** The tool with the longest name in the sentence. One word alone may be an ordinary one. */
function findNamed(
  { tokens }: Clause,
  tools: readonly OfferedTool[],
): (Found & { readonly range: Range }) | undefined {
  const found = tools.flatMap((tool) =>
    [tool.safeName, `${tool.server} ${tool.tool}`, tool.tool].flatMap((name) =>
      findMentions(tokens, name)
        .filter(
          ({ from, to }) =>
            wordsOf(name).length > 1 ||
            CALL.test(tokens[from - 1]?.text ?? '') ||
            ['json', 'separator'].includes(tokens[to]?.kind ?? ''),
        )
        .map((range) => ({ tool, words: [name], range })),
    ),
  )
  const length = ({ words: [name = ''] }: Found): number => name.length
  return found.toSorted((one, other) => length(other) - length(one))[0]
}

function findByWords(
  { tokens }: Clause,
  tools: readonly OfferedTool[],
): (Found & { readonly score: number; readonly ranges: Range[] })[] {
  const words = tokens.flatMap(({ kind, text }, index) =>
    kind !== 'word' || isLiteral(text) || isStopWord(text)
      ? []
      : [{ text: text.toLowerCase(), stems: wordsOf(text).map(stem), index }],
  )
  const searchable = tools.map((tool) => ({ ...tool, name: tool.tool }))
  const query = words.map(({ text }) => text).join(' ')
  return new ToolIndex(searchable).search(query, CANDIDATES).flatMap((tool) => {
    const name = new Set(wordsOf(tool.name).map(stem))
    const parameters = readFields(tool.inputSchema).map((field) => field.name)
    const about = new Set(wordsOf(`${tool.description ?? ''} ${parameters.join(' ')}`).map(stem))
    const matches = words.flatMap((word, position) => {
      const isInName = word.stems.some((one) => name.has(one))
      if (!isInName && !word.stems.some((one) => about.has(one))) return []
      const weight = isInName && !isGenericVerb(word.text) ? 2 : 1
      // The first word tends to be the verb.
      return [{ ...word, isInName, weight: position === 0 ? weight + 0.5 : weight }]
    })
    const matched = new Set(matches.flatMap(({ stems }) => stems))
    const others = Array.from(name).filter((one) => !matched.has(one) && !isGenericVerb(one))
    const isDeprecated = /\bdeprecated\b/i.test(tool.description ?? '')
    const score =
      matches.reduce((sum, { weight }) => sum + weight, 0) -
      others.length / 2 -
      (isDeprecated ? 1 : 0)
    if (score < THRESHOLD) return []
    const ranges = matches.flatMap(({ isInName, index }) =>
      isInName ? [{ from: index, to: index + 1 }] : [],
    )
    return [{ tool, words: matches.map(({ text }) => text), score, ranges }]
  })
}

/** "files" and "file", "listing" and "list" are one. */
function stem(word: string): string {
  return word.length < 4 ? word : word.replace(/(?:ies|es|s|ing|ed|y|e)$/, '')
}

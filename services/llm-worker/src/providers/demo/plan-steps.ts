import type { OfferedTool } from '@mcp-host/contracts'
import { ToolIndex } from '@mcp-host/tool-search'
import type { FilledArguments } from './fill-arguments.ts'
import { fillArguments } from './fill-arguments.ts'
import { isGeneric, isLink, isLiteral, namePattern, readTokens, wordsOf } from './tokens.ts'

/** One step of the user's message and the tool for it. */
export interface PlannedStep {
  readonly sentence: string
  readonly choice: Choice | undefined
}

/** A tool for a step, with its arguments. It cannot be called when one is missing. */
interface Choice extends FilledArguments {
  readonly tool: OfferedTool
  /** The words of the sentence that chose the tool. */
  readonly words: readonly string[]
}

/** Longer messages are cut, to limit the time on the event loop. */
const MAX_LENGTH = 8_000
const MAX_STEPS = 16
/** The number of search results that are examined. */
const CANDIDATES = 20

const STEP = /(?:^|\b(?:then|after that)\b)((?:"[^"]*"|(?!\b(?:then|after that)\b)[^])*)/gi

/**
 * Divides a message into steps: "do this, then do that" has two. The result depends only on the message and the tools,
 * so that each generation of a turn has the same plan.
 */
export function planSteps(message: string, tools: readonly OfferedTool[]): PlannedStep[] {
  return Array.from(message.slice(0, MAX_LENGTH).matchAll(STEP), ([, step = '']) =>
    step.replaceAll(/^[\s,;.]+|(?:[\s,;]|\band)+$/gi, ''),
  )
    .filter((sentence) => sentence !== '')
    .slice(0, MAX_STEPS)
    .map((sentence) => ({ sentence, choice: chooseTool(sentence, tools) }))
}

export interface PlannedCall extends PlannedStep {
  readonly choice: Choice
}

export function isCall(step: PlannedStep): step is PlannedCall {
  return step.choice?.missing.length === 0
}

/** The tool that a sentence names; otherwise the best search result that can be called. */
function chooseTool(sentence: string, tools: readonly OfferedTool[]): Choice | undefined {
  const [named] = tools
    .flatMap((tool) =>
      [tool.safeName, `${tool.server} ${tool.tool}`, tool.tool].map((name) => ({ tool, name })),
    )
    .filter(({ name }) => isNamed(sentence, name))
    .toSorted((one, other) => other.name.length - one.name.length)
  if (named !== undefined) {
    const { tool, name } = named
    return { tool, words: [name], ...fillArguments(sentence, tool.inputSchema, { name }) }
  }
  const doubts = ({ unused, tool }: Choice): number =>
    unused + Number(/\bdeprecated\b/i.test(tool.description ?? ''))
  return search(sentence, tools)
    .filter(({ missing }) => missing.length === 0)
    .toSorted((one, other) => doubts(one) - doubts(other))[0]
}

/** Whether a sentence has the name of a tool. A name of one word may be an ordinary word. */
function isNamed(sentence: string, name: string): boolean {
  const words = wordsOf(name)
  if (words.length === 0) return false
  const [start, called] = [`(?<![\\p{L}\\p{N}])`, `(?<=\\b(?:call|run|tool|try|use)\\s+["'“\`]?)`]
  const spelt = namePattern(name)
  const pattern =
    words.length > 1
      ? `${start}(?:${spelt})`
      : `${called}(?:${spelt})|${start}${words[0]}["'”]?\\s*[:={]`
  return new RegExp(pattern, 'iu').test(sentence)
}

/** Tools that have a word of the sentence in their names, best match first. */
function search(sentence: string, tools: readonly OfferedTool[]): Choice[] {
  const tokens = readTokens(sentence)
  const plain = tokens.filter((token) => !isLiteral(token) && !isLink(token))
  const query = Array.from(new Set(plain.map(({ text }) => text.toLowerCase())))
  const searchable = tools.map((tool) => ({ ...tool, name: tool.tool }))
  return new ToolIndex(searchable).search(query.join(' '), CANDIDATES).flatMap((tool) => {
    const name = new ToolIndex([{ name: tool.name }])
    const words = query.filter((word) => name.search(word, 1).length > 0)
    const filled = fillArguments(sentence, tool.inputSchema, { words })
    // A generic word such as "get" alone fits any tool.
    const isSure = tokens.some(isLiteral) || words.some((word) => !isGeneric(word))
    return words.length > 0 && isSure ? [{ tool, words, ...filled }] : []
  })
}

import type { OfferedTool } from '@mcp-host/contracts'
import type { FilledArguments } from './fill-arguments.ts'
import { fillArguments } from './fill-arguments.ts'
import { namePattern, wordsOf } from './tokens.ts'

/** One step of the user's message and the tool for it. */
export interface PlannedStep {
  readonly sentence: string
  readonly choice: Choice | undefined
}

/** A tool for a step, with its arguments. It cannot be called when one is missing. */
interface Choice extends FilledArguments {
  readonly tool: OfferedTool
  /** The name of the tool that the sentence has. */
  readonly name: string
}

/** Longer messages are cut, to limit the time on the event loop. */
const MAX_LENGTH = 8_000
const MAX_STEPS = 16

/** The begin of a sentence, where a verb stands. */
const BEGIN = String.raw`^(?:(?:first|hello|hi|please)[\s,]+)*`
/** Verbs that begin many sentences: a tool of this name must be called. */
const GENERIC = /^(?:call|find|get|give|list|make|print|read|return|run|show|tell|use)$/i

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

/** The tool that a sentence names, by the longest name in it. */
function chooseTool(sentence: string, tools: readonly OfferedTool[]): Choice | undefined {
  const [named] = tools
    .flatMap((tool) =>
      [tool.safeName, `${tool.server} ${tool.tool}`, tool.tool].map((name) => ({ tool, name })),
    )
    .filter(({ name }) => isNamed(sentence, name))
    .toSorted((one, other) => other.name.length - one.name.length)
  return named && { ...named, ...fillArguments(sentence, named.tool.inputSchema, named.name) }
}

/** Whether a sentence has the name of a tool. A name of one word may be an ordinary word, so that its place counts. */
function isNamed(sentence: string, name: string): boolean {
  const words = wordsOf(name)
  if (words.length === 0) return false
  const called = String.raw`\b(?:call|run|tool|try|use)\s+`
  const begin = GENERIC.test(name) ? called : `${BEGIN}|${called}`
  const before = words.length > 1 ? String.raw`(?<![\p{L}\p{N}])` : `(?:${begin})["'“\`]?`
  return new RegExp(`${before}(?:${namePattern(name)})`, 'iu').test(sentence)
}

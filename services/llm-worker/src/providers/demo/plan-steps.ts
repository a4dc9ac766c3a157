import type { OfferedTool } from '@mcp-host/contracts'
import type { FilledArguments } from './fill-arguments.ts'
import { fillArguments } from './fill-arguments.ts'
import type { PlainName, Word } from './tokens.ts'
import { findName, readName, readWords } from './tokens.ts'

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

/** Words before the verb of a sentence. */
const GREETING = /^(?:first|hello|hi|please)$/
/** A word before the name of a tool. */
const CALL = /^(?:call|run|tool|try|use)\s+["'“`]?_*$/i
/** Verbs that begin many sentences: a tool of this name must be called. */
const GENERIC = /^(?:call|find|get|give|list|make|print|read|return|run|show|tell|use)$/

const STEP = /(?:^|\b(?:then|after that)\b)((?:"[^"]*"|(?!\b(?:then|after that)\b)[^])*)/gi

/**
 * Divides a message into steps: "do this, then do that" has two. The result depends only on the message and the tools,
 * so that each generation of a turn has the same plan.
 */
export function planSteps(message: string, tools: readonly OfferedTool[]): PlannedStep[] {
  const names = tools.flatMap((tool) =>
    [tool.safeName, `${tool.server} ${tool.tool}`, tool.tool].map((name) => ({
      tool,
      name,
      plain: readName(name),
    })),
  )
  return Array.from(message.slice(0, MAX_LENGTH).matchAll(STEP), ([, step = '']) =>
    step.replaceAll(/^[\s,;.]+|(?:[\s,;]|\band)+$/gi, ''),
  )
    .filter((sentence) => sentence !== '')
    .slice(0, MAX_STEPS)
    .map((sentence) => ({ sentence, choice: chooseTool(sentence, names) }))
}

export interface PlannedCall extends PlannedStep {
  readonly choice: Choice
}

export function isCall(step: PlannedStep): step is PlannedCall {
  return step.choice?.missing.length === 0
}

interface ToolName extends Pick<Choice, 'tool' | 'name'> {
  readonly plain: PlainName
}

/** The tool that a sentence names, by the longest name in it. */
function chooseTool(sentence: string, names: readonly ToolName[]): Choice | undefined {
  const words = readWords(sentence)
  const [named] = names
    .filter(({ plain }) => isNamed(sentence, words, plain))
    .toSorted((one, other) => other.name.length - one.name.length)
  if (named === undefined) return undefined
  const { tool, name } = named
  return { tool, name, ...fillArguments(sentence, tool.inputSchema, name) }
}

/** Whether a sentence has the name of a tool. A name of one word may be an ordinary word, so that its place counts. */
function isNamed(sentence: string, words: readonly Word[], name: PlainName): boolean {
  const begin = words.findIndex(({ letters }) => !GREETING.test(letters))
  return findName(words, name).some(({ index, start }) => {
    if (name.ends.size > 1) return true
    const isFirst = (begin === -1 || index <= begin) && !GENERIC.test(name.letters)
    return isFirst || CALL.test(sentence.slice(words[index - 1]?.start, start))
  })
}

import type { Media, OfferedTool, ToolAnswer } from '@mcp-host/contracts'
import { isText } from '@mcp-host/contracts'
import { decodeText } from '@mcp-host/json'
import type { Field } from './fields.ts'
import { readFields } from './fields.ts'
import type { PlannedCall, PlannedStep } from './plan-steps.ts'
import { isCall, planSteps } from './plan-steps.ts'
import type { ScriptStep } from './script.ts'
import type { DemoTurn } from './turn.ts'

/** The largest excerpt of a tool's result that an answer repeats. */
const MAX_ANSWER = 4_000
const MAX_NAMED_TOOLS = 8
const ABOUT =
  'I am the built-in demo model, not a real language model. I understand little: I run the tool that your message names, and show its answer.'

const NO_TOOLS =
  'No tools are offered to me, so there is nothing I can do until there is an MCP server.'
/** The parts of a result that are no text, by their types. */
const PARTS = {
  image: 'picture',
  audio: 'audio file',
  resource: 'file',
  resource_link: 'link to a file',
} as const
/** The line that stands for such a part in the text of a result. */
const PART = /^\[(image|audio|resource|resource_link)\b[^\]\n]*\]$/gm
/** A whole message that asks for nothing but an introduction. */
const GREETING =
  /^(?:(?:hello|hi|hey|good (?:morning|day|afternoon|evening))(?: there)?|help|(?:who|what) are you|what can you do)[\s.!?]*$/iu

/**
 * Reasoning, then a tool call or the text that ends the turn, which names the files of the message. `realModelHint`: how
 * a user gets a real model.
 */
export function demoReply(
  { text: message, files, rounds }: DemoTurn,
  tools: readonly OfferedTool[],
  realModelHint: string,
): ScriptStep[] {
  const withFiles = (text: string): ScriptStep => ({
    text: [...files.map(describeFile), text].join('\n\n'),
  })
  if (rounds.length === 0 && GREETING.test(message))
    return [
      { reasoning: 'This is a greeting, so I say what I can do.' },
      withFiles(`${greet(tools)} ${realModelHint}`),
    ]
  const steps = planSteps(message, tools)
  const next = steps.filter(isCall)[rounds.length]
  if (next !== undefined) {
    const { tool, arguments: given } = next.choice
    return [{ reasoning: reasonFor(next) }, { calls: [{ name: tool.safeName, arguments: given }] }]
  }
  if (rounds.length > 0) {
    const reasoning = 'All steps are done, so I show what the tools answered.'
    return [{ reasoning }, withFiles(presentAnswers(steps, rounds, tools))]
  }
  const reasoning =
    tools.length === 0
      ? 'There are no tools, and without one I can do nothing.'
      : `The message names none of the ${tools.length} tools.`
  return [{ reasoning }, withFiles(explainTools(steps, tools, realModelHint))]
}

function reasonFor({ sentence, choice }: PlannedCall): string {
  const { tool, name, arguments: given } = choice
  const values = Object.entries(given).map(
    ([field, value]) => `${field} = ${shorten(JSON.stringify(value))}`,
  )
  const what = values.length === 0 ? 'It needs no arguments.' : `Arguments: ${values.join(', ')}.`
  return `For “${shorten(sentence)}” I choose the tool ${tool.tool} of the server ${tool.server}. The message names it: “${name}”. ${what}`
}

/** The tools' answers as the text that ends the turn. */
function presentAnswers(
  steps: readonly PlannedStep[],
  rounds: DemoTurn['rounds'],
  tools: readonly OfferedTool[],
): string {
  const calls = steps.filter(isCall)
  const isOnly = steps.length < 2 && rounds.flat().length === 1
  const parts = rounds.flatMap((answers, index) =>
    answers.map((answer) => {
      const name = tools.find(({ safeName }) => safeName === answer.name)?.tool ?? answer.name
      const step = calls[index] === undefined ? '' : `“${shorten(calls[index].sentence)}” – `
      return `${isOnly ? '' : `${step}${name}:\n`}${presentAnswer(answer, name)}`
    }),
  )
  const skipped = tools.length === 0 ? [] : steps.filter((step) => !isCall(step))
  return [...parts, ...skipped.map(explainStep)].join('\n\n')
}

function presentAnswer({ text, isError }: ToolAnswer, name: string): string {
  const said = text.replaceAll(
    PART,
    (_, type: keyof typeof PARTS) => `The ${PARTS[type]} is in the result above.`,
  )
  const whole = said.trim() === '' ? '(nothing)' : said
  const more = whole.length - MAX_ANSWER
  const shown = more > 0 ? `${whole.slice(0, MAX_ANSWER)}… (${more} more characters)` : whole
  if (!isError) return shown
  // The host says this in place of the tool, with advice to the model in a second sentence.
  const [, why] = /^(not run: .*?\.)(?: |$)/.exec(shown) ?? []
  return why === undefined
    ? `The tool ${name} failed. It says: ${shown}`
    : `The tool ${name} was ${why}`
}

/** What the model is, and what it can do with the offered tools. */
function greet(tools: readonly OfferedTool[]): string {
  const example = easiestOf(tools)
  if (example === undefined) return `Hello! ${ABOUT} ${NO_TOOLS}`
  const servers = Map.groupBy(tools, ({ server }) => server)
  const lines = Array.from(servers, ([server, own]) => `- **${server}**: ${nameTools(own)}`)
  return `Hello! ${ABOUT} I can run:\n\n${lines.join('\n')}\n\nTry for example: “${exampleOf(example)}”. Several steps go into one message: “do this, then do that”.`
}

/** Why nothing was called, and what could be. */
function explainTools(
  steps: readonly PlannedStep[],
  tools: readonly OfferedTool[],
  realModelHint: string,
): string {
  const incomplete = steps.filter(({ choice }) => choice !== undefined)
  if (incomplete.length > 0) return incomplete.map(explainStep).join('\n\n')
  const example = easiestOf(tools)
  if (example === undefined) return `${ABOUT} ${NO_TOOLS} ${realModelHint}`
  return `${ABOUT} Your message names no tool. I have ${nameTools(tools)}. Try for example: “${exampleOf(example)}”. ${realModelHint}`
}

/** The file as the message has it; of text the beginning, too. */
function describeFile({ name, mimeType, data = '' }: Media): string {
  const bytes = Buffer.from(data, 'base64')
  const about = `I got the file ${shorten(name ?? 'without a name')} (${mimeType}, ${bytes.length} bytes)`
  if (!isText(mimeType)) return `${about}. I cannot look into it.`
  const [line = ''] = decodeText(bytes, { fatal: false }).split(/\r?\n/, 1)
  return `${about}. Its first line is: “${shorten(line)}”`
}

function nameTools(tools: readonly OfferedTool[]): string {
  const names = tools.slice(0, MAX_NAMED_TOOLS).map(({ tool }) => tool)
  const more = tools.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
}

/** A tool that needs nothing but text. */
function easiestOf(tools: readonly OfferedTool[]): OfferedTool | undefined {
  return tools.find((tool) => requiredOf(tool).every((field) => field.isText)) ?? tools[0]
}

function explainStep({ sentence, choice }: PlannedStep): string {
  if (choice === undefined) return `For “${shorten(sentence)}” I found no tool of that name.`
  const { tool, missing } = choice
  return `The tool ${tool.tool} needs ${missing.join(', ')}, and I did not find that in “${shorten(sentence)}”. Try for example: “${exampleOf(tool)}”.`
}

/** A sentence that calls the tool. */
function exampleOf(tool: OfferedTool): string {
  const given = requiredOf(tool).map(
    ({ name, options, accepts }) => `${name}=${[...options, 'something', 7, true].find(accepts)}`,
  )
  return given.length === 0 ? `call ${tool.tool}` : `call ${tool.tool} with ${given.join(', ')}`
}

function requiredOf({ inputSchema }: OfferedTool): Field[] {
  return readFields(inputSchema).filter(({ isRequired }) => isRequired)
}

/** Keeps a value of any length readable in one line. */
function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

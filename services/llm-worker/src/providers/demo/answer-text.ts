import type { OfferedTool, ToolAnswer } from '@mcp-host/contracts'
import type { PlannedStep } from './plan.ts'
import { readFields } from './schema-fields.ts'

/** So much of a tool's answer is repeated. */
const MAX_ANSWER = 4_000
const MAX_NAMED_TOOLS = 8

/** The tools' answers as the text that ends the turn. */
export function presentAnswers(
  steps: readonly PlannedStep[],
  rounds: readonly (readonly ToolAnswer[])[],
  tools: readonly OfferedTool[],
): string {
  const clauses = steps.filter(({ choice }) => choice.kind === 'call').map(({ clause }) => clause)
  const isOnly = steps.length < 2 && rounds.length === 1 && rounds[0]?.length === 1
  const parts = rounds.flatMap((answers, index) =>
    answers.map((answer) => {
      const name = tools.find(({ safeName }) => safeName === answer.name)?.tool ?? answer.name
      const clause = clauses[index]
      const heading = clause === undefined ? `${name}:` : `“${shorten(clause)}” – ${name}:`
      return `${isOnly ? '' : `${heading}\n`}${presentAnswer(answer, name)}`
    }),
  )
  const skipped = steps.filter(({ choice }) => choice.kind !== 'call').map(explainStep)
  return [...parts, ...(tools.length === 0 ? [] : skipped)].join('\n\n')
}

/** Why nothing was called, and what could be. */
export function explainTools(steps: readonly PlannedStep[], tools: readonly OfferedTool[]): string {
  const incomplete = steps.filter(({ choice }) => choice.kind === 'incomplete').map(explainStep)
  if (incomplete.length > 0) return incomplete.join('\n\n')
  const about =
    'I am the built-in demo model. I understand little: I look for a tool whose name and description fit your words, run it and show its answer.'
  if (tools.length === 0) {
    return `${about} No tools are offered to me right now, so there is nothing I can do. Add an MCP server, or set GEMINI_API_KEY for a real model.`
  }
  const names = tools.slice(0, MAX_NAMED_TOOLS).map(({ tool }) => tool)
  const more = tools.length - names.length
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
  const example = tools.find(({ inputSchema }) => isEasy(inputSchema)) ?? tools[0]
  const sentence = example === undefined ? '' : ` Try for example: “${exampleSentence(example)}”.`
  return `${about} No tool fits what you wrote. I have ${list}.${sentence} Set GEMINI_API_KEY for a real model.`
}

function presentAnswer({ text, isError }: ToolAnswer, name: string): string {
  const whole = text.trim() === '' ? '(nothing)' : text
  const more = whole.length - MAX_ANSWER
  const shown = more > 0 ? `${whole.slice(0, MAX_ANSWER)}… (${more} more characters)` : whole
  return isError ? `The tool ${name} failed. It says: ${shown}` : shown
}

function explainStep({ clause, choice }: PlannedStep): string {
  if (choice.kind !== 'incomplete') return `For “${shorten(clause)}” I found no fitting tool.`
  const { tool, missing } = choice
  return `The tool ${tool.tool} needs ${missing.join(', ')}, and I did not find that in “${shorten(clause)}”. Try for example: “${exampleSentence(tool)}”.`
}

function isEasy(schema: OfferedTool['inputSchema']): boolean {
  const [first, second] = readFields(schema).filter(({ isRequired }) => isRequired)
  return first?.type === 'string' && second === undefined
}

function exampleSentence({ tool, inputSchema }: OfferedTool): string {
  const required = readFields(inputSchema).filter(({ isRequired }) => isRequired)
  const given = required.map(({ name, type, options }) => {
    const number = type === 'number' || type === 'integer'
    const sample = options?.[0] ?? (number ? 7 : type === 'boolean' ? true : 'something')
    return `${name}=${typeof sample === 'string' ? sample : JSON.stringify(sample)}`
  })
  return given.length === 0 ? `call ${tool}` : `call ${tool} with ${given.join(', ')}`
}

/** Keeps a value of any length readable in one line. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

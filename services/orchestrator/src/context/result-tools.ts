import { setImmediate as nextTick } from 'node:timers/promises'
import type { OfferedTool, PromptMessage, ToolCallId } from '@mcp-host/contracts'
import type { SessionState, ToolCall } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { charStart } from './cut-text.ts'
import { callText } from '../results/result-text.ts'
import type { ResultTexts } from '../results/result-texts.ts'
import { READ_TOOL, SEARCH_TOOL } from './transcript.ts'

/** Lengths and offsets are in UTF-16 units. */
const READ_LENGTH = 8_000
const MAX_READ_LENGTH = 16_000
/** The minimum length of one read, so that a model that reads on makes progress. */
const MIN_READ_LENGTH = 100
const MATCHES = 10
const MAX_MATCHES = 50
const MAX_SEARCHED_LENGTH = 1_000
/** Characters around a match, on either side. */
const AROUND = 100
/** The number of characters that are searched between two yields to the event loop. */
const SEARCH_STEP = 1024 * 1024

const call = { type: 'string', description: 'The id of the call, from the shortened result.' }

const TOOLS: readonly OfferedTool[] = [
  {
    safeName: READ_TOOL,
    server: 'result',
    tool: 'read',
    description:
      'Reads a part of an earlier tool result that was shortened or cleared. Says where the rest begins.',
    inputSchema: {
      type: 'object',
      properties: {
        call,
        offset: { type: 'integer', minimum: 0, description: 'The first character. Default 0.' },
        length: {
          type: 'integer',
          minimum: MIN_READ_LENGTH,
          maximum: MAX_READ_LENGTH,
          description: `How many characters. Default ${READ_LENGTH}.`,
        },
      },
      required: ['call'],
    },
  },
  {
    safeName: SEARCH_TOOL,
    server: 'result',
    tool: 'search',
    description:
      'Finds a text in an earlier tool result that was shortened or cleared. Shows each place with its offset and what stands around it. Upper and lower case are the same; patterns are not understood.',
    inputSchema: {
      type: 'object',
      properties: {
        call,
        text: { type: 'string', minLength: 1, maxLength: MAX_SEARCHED_LENGTH },
        offset: { type: 'integer', minimum: 0, description: 'Where to begin. Default 0.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_MATCHES,
          description: `How many places at most. Default ${MATCHES}.`,
        },
      },
      required: ['call', 'text'],
    },
  },
]

/** The tools that read results, offered when a result in the prompt was cut. */
export function resultTools(messages: readonly PromptMessage[]): OfferedTool[] {
  const isNeeded = messages.some(
    (message) =>
      message.role === 'tool' && message.answers.some(({ text }) => text.includes(READ_TOOL)),
  )
  return isNeeded ? [...TOOLS] : []
}

/** Answers a call of these tools. Errors are also answers, in words for the model. */
export async function answerResultTool(
  { results }: { readonly results: Pick<ResultTexts, 'get'> },
  state: SessionState,
  { block }: ToolCall,
): Promise<string> {
  const given = block.arguments as Record<string, unknown>
  const { call: id } = given
  if (typeof id !== 'string') return 'call: must be the id of a call with a result'
  const asked = state.calls.get(id as ToolCallId)
  const blob = asked?.settled === undefined ? asked?.result?.blob : undefined
  let text = asked && callText(asked)
  if (blob !== undefined) {
    try {
      text = await results.get(blob)
    } catch (error) {
      const { code, message } = BusError.from(error)
      return code === 'not-found'
        ? `the result of call "${id}" is not kept any more; call the tool again if it does no harm`
        : `the result of call "${id}" cannot be read right now: ${message}`
    }
  }
  if (text === undefined) return `there is no result of a call "${id}" to be read`
  switch (block.tool) {
    case 'read':
      return read(text, given)
    case 'search':
      return search(text, given)
    default:
      return `there is no tool "${block.name}"`
  }
}

function read(text: string, given: Record<string, unknown>): string {
  const begin = charStart(text, integer(given['offset'], 0, 0, text.length))
  const length = integer(given['length'], READ_LENGTH, MIN_READ_LENGTH, MAX_READ_LENGTH)
  const end = charStart(text, Math.min(text.length, begin + length))
  const rest = end < text.length ? `it goes on at offset ${end}` : 'this is its end'
  return `[characters ${begin} to ${end} of ${text.length}; ${rest}]\n${text.slice(begin, end)}`
}

async function search(text: string, given: Record<string, unknown>): Promise<string> {
  const { text: wanted } = given
  if (typeof wanted !== 'string' || wanted === '' || wanted.length > MAX_SEARCHED_LENGTH) {
    return `text: must be a text of 1 to ${MAX_SEARCHED_LENGTH} characters`
  }
  const limit = integer(given['limit'], MATCHES, 1, MAX_MATCHES)
  const begin = integer(given['offset'], 0, 0, text.length)
  const places: number[] = []
  for await (const place of placesOf(text, wanted, begin)) {
    places.push(place)
    if (places.length > limit) break
  }
  const next = places[limit]
  const shown = places.slice(0, limit).map((at) => {
    const from = charStart(text, Math.max(0, at - AROUND))
    const to = charStart(text, Math.min(text.length, at + wanted.length + AROUND))
    return `[offset ${at}] ${text.slice(from, to)}`
  })
  const more = next === undefined ? 'no more' : `more from offset ${next} on`
  const head = `[${shown.length} places in characters ${begin} to ${text.length}; ${more}]`
  return [head, ...shown].join('\n\n')
}

/** Positions of the text, ignoring case; yields to the event loop. */
async function* placesOf(text: string, wanted: string, begin: number): AsyncIterable<number> {
  const literal = new RegExp(wanted.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'gi')
  for (let at = begin; at < text.length; at += SEARCH_STEP) {
    // A match that begins in this piece may end in the next.
    const piece = text.slice(at, at + SEARCH_STEP + wanted.length - 1)
    for (const { index } of piece.matchAll(literal)) yield at + index
    await nextTick()
  }
}

/** A whole number from a model's argument, within bounds. */
function integer(value: unknown, fallback: number, min: number, max: number): number {
  const number = Number(value ?? fallback)
  return Math.min(max, Math.max(min, Number.isFinite(number) ? Math.trunc(number) : fallback))
}

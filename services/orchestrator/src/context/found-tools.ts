import type { OfferedTool, SessionState } from '@mcp-host/contracts'
import { ToolIndex } from '@mcp-host/tool-search'
import { callText } from './result-text.ts'

/** As models call it, and as the log names it. */
const FIND_NAME = 'find_tools'
export const FIND_TOOL = 'find-tools'

const LIMIT = 5
const MAX_LIMIT = 20
/** More than a conversation needs at a time; the latest stay. */
const MAX_FOUND = 50

const FIND: OfferedTool = {
  safeName: FIND_NAME,
  server: 'result',
  tool: FIND_TOOL,
  description:
    'Finds tools by what they do. There are more than you are shown: look here before you say that something cannot be done. What is found can be called from then on.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'What is to be done, in a few words.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `How many at most. Default ${LIMIT}.`,
      },
    },
    required: ['query'],
  },
}

/**
 * What a model is offered: all, or where that is more than `most`, those that it has found or called in this
 * conversation, and the means to find others.
 */
export function toolsToOffer(
  all: readonly OfferedTool[],
  { calls }: Pick<SessionState, 'calls'>,
  most: number,
): readonly OfferedTool[] {
  if (all.length <= most) return all
  const names = Array.from(calls.values()).flatMap((call) =>
    call.block.tool === FIND_TOOL && call.block.server === FIND.server
      ? namesIn(callText(call) ?? '')
      : [call.block.name],
  )
  // The latest count, in the order of the whole list: providers keep what begins the same.
  const known = new Set(Array.from(new Set(names.toReversed())).slice(0, MAX_FOUND))
  return [FIND, ...all.filter(({ safeName }) => known.has(safeName))]
}

/** Answers such a call, in words for the model also when it cannot be answered. */
export function answerFindTools(all: readonly OfferedTool[], given: unknown): string {
  const { query, limit = LIMIT } = given as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query.trim() === '') {
    return 'query: must say in a few words what is to be done'
  }
  const many = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(Number(limit)) || LIMIT))
  const index = new ToolIndex(all.map((tool) => ({ ...tool, name: tool.safeName })))
  const found = index.search(query, many)
  if (found.length === 0) return `nothing fits "${query}"; try other words`
  return found.map(({ name, description = '' }) => `- ${name}: ${description}`).join('\n')
}

function namesIn(answer: string): string[] {
  return Array.from(answer.matchAll(/^- (\w[\w-]*):/gm), ([, name = '']) => name)
}

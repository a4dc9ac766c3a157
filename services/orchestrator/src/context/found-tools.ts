import type { OfferedTool, SessionState } from '@mcp-host/contracts'
import { MAX_QUERY_LENGTH } from '@mcp-host/tool-search'
import { toolTokens } from './estimate-tokens.ts'
import type { OfferedToolIndex } from '../tools/offered-tools.ts'
import { callText } from '../results/result-text.ts'
import { shortenTool } from './shorten-tool.ts'

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
      query: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_QUERY_LENGTH,
        description: 'What is to be done, in a few words.',
      },
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

/** Limits for the tools that a model is offered: their number, and tokens of their definitions. */
export interface ToolRoom {
  readonly maxTools: number
  readonly maxTokens: number
}

/**
 * The tools a model is offered: all if there is room. Otherwise the search, and the tools that were found
 * or called in this conversation, as many as fit. Nothing where not even the search fits.
 */
export function toolsToOffer(
  all: readonly OfferedTool[],
  { calls }: Pick<SessionState, 'calls'>,
  { maxTools, maxTokens }: ToolRoom,
): readonly OfferedTool[] {
  if (all.length <= maxTools && totalTokens(all) <= maxTokens) return all
  const room = maxTokens - toolTokens(FIND)
  if (room < 0) return []
  const names = Array.from(calls.values())
    .toReversed()
    .flatMap((call) =>
      call.block.tool === FIND_TOOL && call.block.server === FIND.server
        ? namesIn(callText(call) ?? '')
        : [call.block.name],
    )
  const byName = new Map(all.map((tool) => [tool.safeName, tool]))
  const known = Array.from(new Set(names), (name) => byName.get(name) ?? []).flat()
  const chosen = chooseFitting(known.slice(0, MAX_FOUND), room)
  // In the order of the whole list: providers cache prompts that begin alike.
  return [FIND, ...all.flatMap(({ safeName }) => chosen.get(safeName) ?? [])]
}

/** The first tools that fit; if none does, the first that fit with shortened descriptions. */
function chooseFitting(
  tools: readonly OfferedTool[],
  room: number,
): ReadonlyMap<string, OfferedTool> {
  for (const candidates of [tools, tools.map(shortenTool)]) {
    let left = room
    const chosen = new Map<string, OfferedTool>()
    for (const tool of candidates) {
      const tokens = toolTokens(tool)
      if (tokens > left) continue
      left -= tokens
      chosen.set(tool.safeName, tool)
    }
    if (chosen.size > 0) return chosen
  }
  return new Map()
}

function totalTokens(tools: readonly OfferedTool[]): number {
  return tools.reduce((sum, tool) => sum + toolTokens(tool), 0)
}

/** Answers such a call, in words for the model also when it cannot be answered. */
export function answerFindTools(index: OfferedToolIndex, given: unknown): string {
  const { query, limit = LIMIT } = given as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query.trim() === '') {
    return 'query: must say in a few words what is to be done'
  }
  if (query.length > MAX_QUERY_LENGTH) {
    return `query: must have at most ${MAX_QUERY_LENGTH} characters`
  }
  const many = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(Number(limit)) || LIMIT))
  const found = index.search(query, many)
  if (found.length === 0) return `nothing fits "${query}"; try other words`
  return found.map(({ name, description = '' }) => `- ${name}: ${description}`).join('\n')
}

function namesIn(answer: string): string[] {
  return Array.from(answer.matchAll(/^- (\w[\w-]*):/gm), ([, name = '']) => name)
}

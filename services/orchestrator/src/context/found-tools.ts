import type { OfferedTool } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { MAX_QUERY_LENGTH } from '@mcp-host/tool-search'
import { toolTokens } from './estimate-tokens.ts'
import type { OfferedToolIndex } from '../tools/offered-tools.ts'
import { callText } from '../results/result-text.ts'
import { shortenTool } from './shorten-tool.ts'

/** The name of the search in calls of models, and in the log. */
const FIND_NAME = 'find_tools'
export const FIND_TOOL = 'find-tools'

const LIMIT = 5
const MAX_LIMIT = 20
/** The number of search results that are examined, since some may be hidden from the user. */
const MAX_CANDIDATES = 200
/** Limit for the found tools that are offered. The latest ones are kept. */
const MAX_FOUND = 50

const FIND: OfferedTool = {
  safeName: FIND_NAME,
  server: 'result',
  tool: FIND_TOOL,
  description:
    'Finds tools by their purpose. More tools exist than you are shown: search before you say that something cannot be done. You can call the found tools from then on.',
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

/** Limits for the tools that a model is offered: their number, and the tokens of their definitions. */
export interface ToolRoom {
  readonly maxTools: number
  readonly maxTokens: number
}

/**
 * The tools to offer to a model: all if there is room. Otherwise the search, and as many as fit of the tools that were
 * found or called in this conversation. Empty when not even the search fits.
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
  // Tools keep the order of the whole list, since providers cache prompts by their beginning.
  return [FIND, ...all.flatMap(({ safeName }) => chosen.get(safeName) ?? [])]
}

/** The first tools that fit. If none fits, the first that fit with shortened descriptions. */
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

/** Answers a call of the search. Errors are also answers, in words for the model. */
export function answerFindTools(
  index: OfferedToolIndex,
  given: unknown,
  isShown: (tool: OfferedTool) => boolean = () => true,
): string {
  const { query, limit = LIMIT } = given as Readonly<Record<string, unknown>>
  if (typeof query !== 'string' || query.trim() === '') {
    return 'query: must say in a few words what is to be done'
  }
  if (query.length > MAX_QUERY_LENGTH) {
    return `query: must have at most ${MAX_QUERY_LENGTH} characters`
  }
  const many = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(Number(limit)) || LIMIT))
  const found = index.search(query, MAX_CANDIDATES).filter(isShown).slice(0, many)
  if (found.length === 0) return `nothing fits "${query}"; try other words`
  return found.map(({ name, description = '' }) => `- ${name}: ${description}`).join('\n')
}

function namesIn(answer: string): string[] {
  return Array.from(answer.matchAll(/^- (\w[\w-]*):/gm), ([, name = '']) => name)
}

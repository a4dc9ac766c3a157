import { MAX_QUERY_LENGTH, ToolIndex } from '@mcp-host/tool-search'
import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'
import { PacedQueue } from './paced-queue.ts'

export const SEARCH_TOOLS = 'search_tools'
export const CALL_TOOL = 'call_tool'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 50

/** The queue of searches in all listings, which share one event loop. A search takes milliseconds. */
const searches = new PacedQueue(1_000)

/** The tools that are listed instead of all others. */
export const SEARCH_DEFINITIONS: readonly Params[] = [
  {
    name: SEARCH_TOOLS,
    description:
      'Finds tools by what they do, with the schemas of their arguments. Look here first; then call what was found with call_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          maxLength: MAX_QUERY_LENGTH,
          description: 'What is to be done, in a few words.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `How many at most; ${DEFAULT_LIMIT} unless said.`,
        },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: CALL_TOOL,
    description: 'Calls a tool that search_tools has found.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'As search_tools says it.' },
        arguments: { type: 'object', description: "By the tool's own schema." },
      },
      required: ['name'],
    },
  },
]

type Named = Params & { readonly name: string }

/** Answers calls of the two search tools. */
export class ToolSearch {
  readonly #index: ToolIndex<Named>

  constructor(tools: readonly Named[]) {
    this.#index = new ToolIndex(tools)
  }

  /** Answers a call of `search_tools` with the tools that fit best, as a result for a model. */
  async run({ arguments: args }: Params): Promise<object> {
    const { query, limit = DEFAULT_LIMIT } = isObject(args) ? args : {}
    if (typeof query !== 'string' || query.trim() === '') {
      return refusal('query: must say in a few words what is to be done')
    }
    if (query.length > MAX_QUERY_LENGTH) {
      return refusal(`query: must have at most ${MAX_QUERY_LENGTH} characters`)
    }
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
      return refusal(`limit: must be a number from 1 to ${MAX_LIMIT}`)
    }
    if (searches.isFull) return refusal('Too many searches are under way; try again.')
    await this.#index.prepare()
    const found = await searches.run(() => this.#index.search(query, Number(limit)))
    const text =
      found.length === 0
        ? `Nothing fits "${query}"; there are ${this.#index.size} tools, so try other words.`
        : JSON.stringify(found.map(inShort))
    return { content: [{ type: 'text', text }] }
  }
}

/** The parts of a tool that a caller needs. */
function inShort({ name, title, description, inputSchema, annotations }: Params): object {
  return { name, title, description, inputSchema, annotations }
}

/** The result of `call_tool` for an unknown tool. */
export function noSuchTool({ arguments: args }: Params): object {
  const { name } = isObject(args) ? args : {}
  if (typeof name !== 'string') return refusal('name: must be the name of a tool')
  return refusal(`There is no tool "${name}"; ${SEARCH_TOOLS} says which there are.`)
}

function refusal(text: string): object {
  return { content: [{ type: 'text', text }], isError: true }
}

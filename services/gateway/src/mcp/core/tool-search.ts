import MiniSearch from 'minisearch'
import type { Params } from './rpc.ts'
import { isObject } from './rpc.ts'

export const SEARCH_TOOLS = 'search_tools'
export const CALL_TOOL = 'call_tool'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 50

/** What is listed in the place of all tools. */
export const SEARCH_DEFINITIONS: readonly Params[] = [
  {
    name: SEARCH_TOOLS,
    description:
      'Finds tools by what they do, with the schemas of their arguments. Look here first; then call what was found with call_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What is to be done, in a few words.' },
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

/** Finds tools by words. */
export class ToolSearch {
  readonly #tools: readonly Params[]
  #index: MiniSearch | undefined

  constructor(tools: readonly Params[]) {
    this.#tools = tools
  }

  /** Answers a call of `search_tools`: the tools that fit best, as a result for a model. */
  run({ arguments: args }: Params): object {
    const { query, limit = DEFAULT_LIMIT } = isObject(args) ? args : {}
    if (typeof query !== 'string' || query.trim() === '') {
      return refusal('query: must say in a few words what is to be done')
    }
    if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
      return refusal(`limit: must be a number from 1 to ${MAX_LIMIT}`)
    }
    const found = this.#find(query).slice(0, Number(limit))
    const text =
      found.length === 0
        ? `Nothing fits "${query}"; there are ${this.#tools.length} tools, so try other words.`
        : JSON.stringify(found)
    return { content: [{ type: 'text', text }] }
  }

  #find(query: string): Params[] {
    this.#index ??= indexOf(this.#tools)
    return this.#index.search(query).flatMap(({ id }) => {
      const tool = this.#tools[Number(id)]
      if (tool === undefined) return []
      const { name, title, description, inputSchema, annotations } = tool
      return [{ name, title, description, inputSchema, annotations }]
    })
  }
}

/** What `call_tool` says of a tool that there is not. */
export function noSuchTool({ arguments: args }: Params): object {
  const { name } = isObject(args) ? args : {}
  if (typeof name !== 'string') return refusal('name: must be the name of a tool')
  return refusal(`There is no tool "${name}"; ${SEARCH_TOOLS} says which there are.`)
}

function refusal(text: string): object {
  return { content: [{ type: 'text', text }], isError: true }
}

function indexOf(tools: readonly Params[]): MiniSearch {
  const index = new MiniSearch({
    fields: ['name', 'title', 'description', 'parameters'],
    tokenize: words,
    searchOptions: {
      boost: { name: 3, title: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  })
  index.addAll(
    tools.map(({ name, title, description, inputSchema }, id) => {
      const { properties } = isObject(inputSchema) ? inputSchema : {}
      const parameters = Object.keys(isObject(properties) ? properties : {}).join(' ')
      return { id, name, title, description, parameters }
    }),
  )
  return index
}

/** `list_openIssues` is three words. */
function words(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

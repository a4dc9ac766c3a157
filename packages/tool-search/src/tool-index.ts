import MiniSearch from 'minisearch'

/** What is looked at of a tool, as its server describes it. */
export interface SearchableTool {
  readonly name: string
  readonly title?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
}

/** Finds tools by words: in their names, titles, descriptions and the names of their arguments. */
export class ToolIndex<Tool extends SearchableTool> {
  readonly #tools: readonly Tool[]
  #index: MiniSearch | undefined

  constructor(tools: readonly Tool[]) {
    this.#tools = tools
  }

  get size(): number {
    return this.#tools.length
  }

  /** Those that fit, the best first. */
  search(query: string, limit: number): Tool[] {
    // Most are never asked.
    this.#index ??= indexOf(this.#tools)
    return this.#index
      .search(query)
      .slice(0, limit)
      .flatMap(({ id }) => this.#tools[Number(id)] ?? [])
  }
}

function indexOf(tools: readonly SearchableTool[]): MiniSearch {
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
      const parameters = Object.keys(propertiesOf(inputSchema)).join(' ')
      return { id, name, title, description, parameters }
    }),
  )
  return index
}

function propertiesOf(schema: unknown): object {
  const { properties } = isObject(schema) ? (schema as { properties?: unknown }) : {}
  return isObject(properties) ? properties : {}
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** `list_openIssues` is three words. */
function words(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

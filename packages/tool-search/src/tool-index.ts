import MiniSearch from 'minisearch'

/** How long a query may be: a few words say what is to be done, and callers refuse more. */
export const MAX_QUERY_LENGTH = 1_000
/** Words of a query that are searched for. The cost of each grows with the number of words of all tools. */
const MAX_QUERY_WORDS = 32
/** Words of a query that are also searched for with other letters, which takes most of the time. */
const MAX_FUZZY_WORDS = 8
/** The cost of a fuzzy match grows with the square of a word's length. */
const MAX_WORD_LENGTH = 40
/** Letters by which a word may differ from a longer one. */
const MAX_DISTANCE = 2
/** Words that are looked at of each field of a tool: a server chooses how many it has. */
const MAX_FIELD_WORDS = 100
/** Text that is looked at for those. */
const MAX_FIELD_LENGTH = 4_000

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

  /** Those that fit, the best first. Of a longer query only the beginning counts. */
  search(query: string, limit: number): Tool[] {
    // Most are never asked.
    this.#index ??= indexOf(this.#tools)
    return this.#index
      .search(query.slice(0, MAX_QUERY_LENGTH), { tokenize: queryWords })
      .slice(0, limit)
      .flatMap(({ id }) => this.#tools[Number(id)] ?? [])
  }
}

function indexOf(tools: readonly SearchableTool[]): MiniSearch {
  const index = new MiniSearch({
    fields: ['name', 'title', 'description', 'parameters'],
    tokenize: fieldWords,
    searchOptions: {
      boost: { name: 3, title: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term, position) => (position < MAX_FUZZY_WORDS && term.length > 4 ? 0.2 : false),
      maxFuzzy: MAX_DISTANCE,
    },
  })
  index.addAll(
    tools.map(({ name, title, description, inputSchema }, id) => {
      const parameters = Object.keys(propertiesOf(inputSchema)).slice(0, MAX_FIELD_WORDS).join(' ')
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

function queryWords(query: string): string[] {
  return Array.from(new Set(words(query))).slice(0, MAX_QUERY_WORDS)
}

function fieldWords(text: string): string[] {
  return words(text.slice(0, MAX_FIELD_LENGTH)).slice(0, MAX_FIELD_WORDS)
}

/** `list_openIssues` is three words. */
function words(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .flatMap((word) => (word === '' ? [] : [word.slice(0, MAX_WORD_LENGTH)]))
}

import MiniSearch from 'minisearch'

/** The maximum length of a query. A few words suffice, and callers refuse longer queries. */
export const MAX_QUERY_LENGTH = 1_000
/** Limit for the words of a query that are searched. The cost of each grows with the number of words of all tools. */
const MAX_QUERY_WORDS = 32
/** Limit for the words of a query with fuzzy matching, which takes most of the time. */
const MAX_FUZZY_WORDS = 8
/** Limit for the length of words with fuzzy matching, whose cost grows with the square of the length. */
const MAX_WORD_LENGTH = 40
/** The number of letters by which a word may differ from a longer one. */
const MAX_DISTANCE = 2
/** Limit for the indexed words of each field of a tool, whose number the server chooses. */
const MAX_FIELD_WORDS = 100
/** The tools that are indexed between two pauses. One takes up to a millisecond. */
const TOOLS_AT_ONCE = 10
/** Limit for the text that is split into words. */
const MAX_FIELD_LENGTH = 4_000

/** The indexed fields of a tool, in the words of its server. */
export interface SearchableTool {
  readonly name: string
  readonly title?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
}

/** Finds tools by words in their names, titles, descriptions and the names of their arguments. */
export class ToolIndex<Tool extends SearchableTool> {
  readonly #tools: readonly Tool[]
  #index: MiniSearch | undefined
  #prepared: Promise<void> | undefined

  constructor(tools: readonly Tool[]) {
    this.#tools = tools
  }

  get size(): number {
    return this.#tools.length
  }

  /**
   * Builds the index before the first search, with pauses in which the event loop does other work: ten thousand tools take
   * seconds. It is not built earlier, since most indexes are never searched.
   */
  prepare(): Promise<void> {
    return (this.#prepared ??= this.#build())
  }

  async #build(): Promise<void> {
    const index = newIndex()
    await index.addAllAsync(documentsOf(this.#tools), { chunkSize: TOOLS_AT_ONCE })
    this.#index = index
  }

  /** The tools that fit, best first. Only the beginning of a long query is used. */
  search(query: string, limit: number): Tool[] {
    if (this.#index === undefined) {
      this.#index = newIndex()
      this.#index.addAll(documentsOf(this.#tools))
    }
    return this.#index
      .search(query.slice(0, MAX_QUERY_LENGTH), { tokenize: queryWords })
      .slice(0, limit)
      .flatMap(({ id }) => this.#tools[Number(id)] ?? [])
  }
}

function newIndex(): MiniSearch {
  return new MiniSearch({
    fields: ['name', 'title', 'description', 'parameters'],
    tokenize: fieldWords,
    searchOptions: {
      boost: { name: 3, title: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term, position) => (position < MAX_FUZZY_WORDS && term.length > 4 ? 0.2 : false),
      maxFuzzy: MAX_DISTANCE,
    },
  })
}

function documentsOf(tools: readonly SearchableTool[]): object[] {
  return tools.map(({ name, title, description, inputSchema }, id) => {
    const parameters = Object.keys(propertiesOf(inputSchema)).slice(0, MAX_FIELD_WORDS).join(' ')
    return { id, name, title, description, parameters }
  })
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

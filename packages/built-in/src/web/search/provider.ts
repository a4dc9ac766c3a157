export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

export interface ProviderRequest {
  readonly url: URL
  readonly init: {
    readonly method?: 'POST'
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
}

/** The wire of one search provider. */
export interface Provider {
  /** The base of its addresses; undefined: it has none of its own, so one must be set. */
  readonly url: string | undefined
  readonly needsKey: boolean
  request(base: URL, key: string, search: { query: string; count: number }): ProviderRequest
  /** Undefined for a body that is not of the provider. */
  results(body: unknown): SearchResult[] | undefined
  /** The reason of an error, in the words of the provider. */
  reason(status: number, body: unknown): string | undefined
}

export interface SearchOptions {
  readonly provider: 'brave' | 'tavily' | 'searxng'
  /** Of Brave and Tavily. */
  readonly key?: string
  /** The address of the SearXNG, which may be internal; for the others, one in the place of their own. */
  readonly url?: string
}

import { isObject, ownValue } from '@mcp-host/json'
import type { WebSearchConfig } from '@mcp-host/upstream'
import { guardedFetch, type ProxyFor } from '@mcp-host/upstream/proxy'

import type { FetchLimits } from '../fetch/open-page.ts'
import { brave } from './brave.ts'
import type { Provider, SearchResult } from './provider.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

const PROVIDERS = { brave, tavily, searxng } satisfies Record<WebSearchConfig['provider'], Provider>

/** The limit for the reason of an error of a provider, in characters. */
const MAX_REASON_LENGTH = 300

interface WebSearchDeps {
  readonly proxyFor: ProxyFor
  readonly limits: FetchLimits
}

interface SearchQuery {
  readonly query: string
  readonly count: number
}

export type WebSearch = (search: SearchQuery, signal: AbortSignal) => Promise<SearchResult[]>

/** A search by the configured provider. Its key is in no result and no error. */
export function webSearch(
  { provider: name, key = '', url: set }: WebSearchConfig,
  { proxyFor, limits: { maxBytes, fetchMs } }: WebSearchDeps,
): WebSearch {
  const provider = ownValue(PROVIDERS, name)
  if (provider === undefined) throw new Error(`there is no search by ${name}`)
  const address = set ?? provider.url
  if (address === undefined) throw new Error(`the search by ${name} needs a url`)
  if (provider.needsKey && !/^[\x21-\x7e]+$/.test(key)) {
    throw new Error(`the search by ${name} needs a key, without spaces or line ends`)
  }
  const base = new URL(address.endsWith('/') ? address : `${address}/`)
  const trusted = set === undefined ? [] : [base.origin]
  const fetchOnce = guardedFetch({ trusted, proxyFor, timeoutMs: fetchMs, maxBytes })
  // A provider, or a proxy before it, may repeat the request.
  const inJson = JSON.stringify(key).slice(1, -1)
  const withoutKey = (text: string): string =>
    key === '' ? text : text.replaceAll(inJson, '[key]').replaceAll(key, '[key]')

  return async (search, signal) => {
    const { url, init } = provider.request(base, key, search)
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'mcp-host',
      ...init.headers,
    }
    try {
      const response = await fetchOnce(url, { ...init, headers, signal })
      const body = parsed(withoutKey(await response.text()))
      const results = response.ok ? provider.results(body) : undefined
      if (results !== undefined) return results.slice(0, search.count)
      const reason = provider.reason(response.status, body) ?? 'it gave no reason'
      throw new Error(
        `it answered with the status ${response.status}: ${reason.slice(0, MAX_REASON_LENGTH)}`,
      )
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // oxlint-disable-next-line preserve-caught-error -- the cause may have the key
      throw new Error(`${name}: ${withoutKey(reason)}`)
    }
  }
}

/** Undefined for a body that is no JSON object. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    // Proxies answer errors with HTML.
    return undefined
  }
}

import { timeLimit } from '@mcp-host/async'
import { guardedFetch, type ProxyFor } from '@mcp-host/upstream/proxy'

import { checkedUrl } from './checked-url.ts'

const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const HEADERS = {
  accept:
    'text/markdown, text/html, application/xhtml+xml, text/plain, application/json, */*;q=0.5',
  // Nothing is decompressed on the way, so compressed bodies only cost time.
  'accept-encoding': 'identity',
  'user-agent': 'mcp-host',
}

export interface FetchLimits {
  /** The limit for a body, compressed and decompressed. */
  readonly maxBytes: number
  /** The time limit for one fetch with its redirects. */
  readonly fetchMs: number
}

export interface OpenPageOptions {
  readonly allowedOrigins: readonly string[]
  readonly proxyFor: ProxyFor
  readonly limits: FetchLimits
}

export interface OpenedPage {
  /** The address after all redirects. */
  readonly url: URL
  readonly response: Response
}

export type OpenPage = (address: string, signal: AbortSignal) => Promise<OpenedPage>

/** Fetches pages with their redirects. Every address on the way must be public, or of an allowed origin. */
export function openPages({ allowedOrigins, proxyFor, limits }: OpenPageOptions): OpenPage {
  const allowed = new Set(allowedOrigins.map((each) => new URL(each).origin))
  const { maxBytes, fetchMs: timeoutMs } = limits

  const fetchOnce = (url: URL, signal: AbortSignal): Promise<Response> => {
    // `guardedFetch` trusts all ports of this machine with one of them, so an origin is trusted only for itself.
    const trusted = allowed.has(url.origin) ? [url.origin] : []
    if (url.protocol === 'http:' && trusted.length === 0) {
      throw new Error(`${url.origin}: only https is fetched; try the address with https://`)
    }
    return guardedFetch({ trusted, proxyFor, timeoutMs, maxBytes })(url, {
      headers: HEADERS,
      signal,
    })
  }

  return async (address, signal) => {
    const late = timeLimit(timeoutMs)
    const ended = AbortSignal.any([signal, late])
    let url = checkedUrl(address)
    try {
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        const response = await fetchOnce(url, ended)
        const location = response.headers.get('location')
        if (!REDIRECTS.has(response.status) || location === null) return { url, response }
        url = checkedUrl(location, url)
      }
    } catch (error) {
      if (!late.aborted) throw error
      throw new Error(`${url.origin} did not answer in full within ${timeoutMs / 1000} s`, {
        cause: error,
      })
    }
    throw new Error(`the address redirects more than ${MAX_REDIRECTS} times`)
  }
}

import type { WebSearchConfig } from '@mcp-host/upstream'
import type { ProxyFor } from '@mcp-host/upstream/proxy'

import type { FetchLimits } from './fetch/open-page.ts'
import type { ConvertLimits } from './page/convert-page.ts'

export interface WebOptions {
  /** Origins that may have an internal address, and no TLS if they say so, such as `http://wiki.internal:8080`. */
  readonly allowedOrigins?: readonly string[]
  /** The tool `web_search` exists only with a provider. */
  readonly search?: WebSearchConfig
  readonly proxyFor?: ProxyFor
  readonly limits?: Partial<WebLimits>
}

export interface WebLimits extends FetchLimits, ConvertLimits {
  /** Fetches that run at the same time; others wait. */
  readonly maxFetches: number
  /** Conversions that run at the same time, since each may take the memory of its limit. */
  readonly maxConversions: number
}

export const DEFAULT_LIMITS: WebLimits = {
  maxBytes: 5 * 1024 * 1024,
  fetchMs: 15_000,
  maxFetches: 8,
  maxConversions: 2,
  convertMs: 5_000,
  convertMb: 256,
}

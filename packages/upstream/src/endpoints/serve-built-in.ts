import type { Transport } from '@modelcontextprotocol/client'

import type { CommonServerConfig } from '../server-config.ts'

/** A server that the host has itself. */
export interface BuiltInServerConfig extends CommonServerConfig {
  readonly type: 'built-in'
  /** Which one. */
  readonly builtIn: string
  /** Of `files`: whether files below the roots may be changed. Default: false. */
  readonly writable?: boolean
  /** Of `web`: origins that may have an internal address, and no TLS if they say so. */
  readonly allowedOrigins?: readonly string[]
  /** Of `web`: who searches. Without it there is no search. */
  readonly search?: WebSearchConfig
}

/** A provider of searches in the web. */
export interface WebSearchConfig {
  readonly provider: 'brave' | 'tavily' | 'searxng'
  /** Of Brave and Tavily. */
  readonly key?: string
  /** The address of the SearXNG, which may be internal; for the others, one in the place of their own. */
  readonly url?: string
}

/**
 * How the built-in server of a configuration is connected: called for every connection. Throws for one that the host does
 * not have.
 */
export type ServeBuiltIn = (
  config: BuiltInServerConfig,
) => (transport: Transport) => void | Promise<void>

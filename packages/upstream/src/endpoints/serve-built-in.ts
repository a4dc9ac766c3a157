import type { Transport } from '@modelcontextprotocol/client'

import type { CommonServerConfig } from '../server-config.ts'

/** A server that the host has itself. */
export interface BuiltInServerConfig extends CommonServerConfig {
  readonly type: 'built-in'
  /** Which one. */
  readonly builtIn: string
  /** Of `files`: whether files below the roots may be changed. Default: false. */
  readonly writable?: boolean
}

/**
 * How the built-in server of a configuration is connected: called for every connection. Throws for one that the host does
 * not have.
 */
export type ServeBuiltIn = (
  config: BuiltInServerConfig,
) => (transport: Transport) => void | Promise<void>

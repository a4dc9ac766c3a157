import { isObject, ownValue } from '@mcp-host/json'
import type { ConfigInput } from './values/find-inputs.ts'
import type { McpConfig } from './mcp-config.ts'
import { type Entry, ENTRY_KINDS } from './entries/index.ts'

/** A server as people write it. Any object is accepted here and checked when it is read. */
export type WrittenServer = Entry | Readonly<Record<string, unknown>>

/** Servers by name, or a list of servers with an `id` each. */
export type WrittenServers = Readonly<Record<string, WrittenServer>> | readonly WrittenServer[]

/** A configuration as people write it: `servers` as VS Code, `mcpServers` as other clients. */
export interface WrittenConfig {
  readonly servers?: WrittenServers
  readonly mcpServers?: WrittenServers
  readonly inputs?: readonly ConfigInput[]
  readonly [field: string]: unknown
}

/**
 * Whether an object has the form that `loadMcpConfig` returns, with every required field of every server. Its strings
 * are not expanded, since they may be secrets that contain a `$`.
 */
export function isComplete(config: unknown): config is McpConfig {
  // An untyped caller may pass anything.
  const {
    servers,
    faulty: _,
    ...others
  } = Object(config) as Partial<Record<keyof McpConfig, unknown>>
  return (
    isObject(servers) &&
    Object.keys(others).length === 0 &&
    Object.values(servers).every(isCompleteServer)
  )
}

function isCompleteServer(server: unknown): boolean {
  if (!isObject(server)) return false
  const kind = ownValue(ENTRY_KINDS, String(server['type']))
  return (
    kind !== undefined &&
    Object.entries(kind.object.shape).every(
      ([field, schema]) => schema._zod.optin === 'optional' || server[field] !== undefined,
    )
  )
}

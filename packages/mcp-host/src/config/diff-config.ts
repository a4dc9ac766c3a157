import { isDeepStrictEqual } from 'node:util'

import { ownValue } from '../json/own-value.ts'
import type { McpConfig } from './mcp-config.ts'

/** Names of servers, by what became of them. */
export interface ConfigDiff {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Anything about them is different; the order of keys is nothing. */
  readonly changed: readonly string[]
  readonly unchanged: readonly string[]
}

export function diffConfig(before: McpConfig, after: McpConfig): ConfigDiff {
  const had = (name: string): boolean => Object.hasOwn(before.servers, name)
  const isSame = (name: string): boolean =>
    isDeepStrictEqual(ownValue(before.servers, name), ownValue(after.servers, name))
  const names = Object.keys(after.servers)
  const kept = names.filter(had)
  return {
    added: names.filter((name) => !had(name)),
    removed: Object.keys(before.servers).filter((name) => !Object.hasOwn(after.servers, name)),
    changed: kept.filter((name) => !isSame(name)),
    unchanged: kept.filter(isSame),
  }
}

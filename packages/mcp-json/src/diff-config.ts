import { isDeepStrictEqual } from 'node:util'

import { ownValue } from '@mcp-host/json'
import type { McpConfig } from './mcp-config.ts'

/** The effect of a new configuration, by server name. */
export interface ReloadReport {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
  readonly unchanged: readonly string[]
}

/** Compares two configurations; the order of keys does not matter. */
export function diffConfig(before: McpConfig, after: McpConfig): ReloadReport {
  const isOld = (name: string): boolean => Object.hasOwn(before.servers, name)
  const isSame = (name: string): boolean =>
    isDeepStrictEqual(ownValue(before.servers, name), ownValue(after.servers, name))
  const names = Object.keys(after.servers)
  const common = names.filter(isOld)
  return {
    added: names.filter((name) => !isOld(name)),
    removed: Object.keys(before.servers).filter((name) => !Object.hasOwn(after.servers, name)),
    changed: common.filter((name) => !isSame(name)),
    unchanged: common.filter(isSame),
  }
}

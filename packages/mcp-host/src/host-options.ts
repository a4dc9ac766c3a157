import type { AskInput } from '@mcp-host/mcp-json'
import type { Guardian } from '@mcp-host/process'
import {
  checkLimits,
  settleUpstreamOptions,
  type SettledUpstreamOptions,
  type UpstreamOptions,
} from '@mcp-host/upstream'
import type { StartPolicy } from './server/server-group.ts'
import { VERSION } from './version.ts'

/** The client info for servers. */
const CLIENT_INFO = { name: 'mcp-host', version: VERSION }

export interface MCPHostOptions extends UpstreamOptions {
  /** Default `all-or-nothing`. */
  readonly startPolicy?: StartPolicy
  /**
   * The time limit for the start of all servers together, in milliseconds; default 60,000. Under `all-or-nothing` the
   * start then fails; under `best-effort` it returns, and missing servers go on starting. It begins again when a server
   * has fetched its program.
   */
  readonly startAllTimeoutMs?: number
  /** A guardian that several hosts of one process share. Default: a new one, disposed with the host. */
  readonly guardian?: Guardian
  /** The cache of prompts and resources; default 5 minutes and 1,000 entries, `false` for none. */
  readonly cache?: CacheOptions | false
  /**
   * Refuses everything in a configuration that only other clients understand, such as unknown fields, names with spaces
   * and `${workspaceFolder}`. Default `false`: such parts cause the event `config-warning`.
   */
  readonly strict?: boolean
  /** See `ReadOptions.workspaceFolder`. */
  readonly workspaceFolder?: string
  /** Called once for each `${input:id}` that a configuration uses. */
  readonly askInput?: AskInput
  /**
   * Reloads when the file given to `initialize` changes; default `false`. The outcome is reported by the event `reload`
   * or `reload-failed`.
   */
  readonly watch?: boolean
}

export interface CacheOptions {
  /** The lifetime of an entry whose server gives none, in milliseconds. */
  readonly ttlMs?: number
  /** Limit for the entries. The least recently used are evicted. */
  readonly maxEntries?: number
}

type Own = 'startPolicy' | 'startAllTimeoutMs' | 'strict' | 'watch'

export type SettledOptions = SettledUpstreamOptions &
  Required<Pick<MCPHostOptions, Own>> &
  Pick<MCPHostOptions, 'workspaceFolder' | 'askInput'>

/**
 * Adds the defaults. An option that is `undefined` counts as missing. Throws `RangeError` with the name of the option.
 */
export function withDefaults(options: Omit<MCPHostOptions, 'cache' | 'guardian'>): SettledOptions {
  const { startAllTimeoutMs = 60_000, startPolicy = 'all-or-nothing', ...rest } = options
  checkLimits({ startAllTimeoutMs }, [['startAllTimeoutMs', 1]])
  const { strict = false, watch = false, workspaceFolder, askInput, ...common } = rest
  return {
    ...settleUpstreamOptions({ ...common, clientInfo: common.clientInfo ?? CLIENT_INFO }),
    startAllTimeoutMs,
    startPolicy,
    strict,
    watch,
    ...(workspaceFolder === undefined ? {} : { workspaceFolder }),
    ...(askInput === undefined ? {} : { askInput }),
  }
}

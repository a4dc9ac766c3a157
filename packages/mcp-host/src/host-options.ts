import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client'

import type { AskInput } from '@mcp-host/mcp-json'
import type { CircuitBreakerConfig, ProxyFor } from '@mcp-host/upstream'
import {
  MESSAGE_LIMITS,
  type MessageLimits,
  MetricsRegistry,
  NO_SANDBOX,
  type Sandbox,
} from '@mcp-host/upstream'
import type { Environment, Guardian } from '@mcp-host/process'
import { type Logger, silentLogger } from '@mcp-host/process'
import { CLIENT_INFO } from './server/client-info.ts'
import type { StartPolicy } from './server/server-group.ts'

export interface MCPHostOptions {
  /**
   * The values of `${NAME}` in the configuration; default: `process.env`. Servers get only a safe part of it (`PATH`,
   * `HOME`, language, time zone, proxies, package managers' settings) besides their configured variables.
   */
  readonly env?: Environment
  /** Separates the processes of servers; see `openSandbox`. Default: none. */
  readonly sandbox?: Sandbox
  /**
   * The proxy for WebSockets to an address. Default: none. Requests over HTTP go through the dispatcher that the
   * application has set for `fetch`.
   */
  readonly proxyFor?: ProxyFor
  /** Default: silent. */
  readonly logger?: Logger
  /** Default `all-or-nothing`. */
  readonly startPolicy?: StartPolicy
  /** The time limit from a server's launch to its first lists, in milliseconds; default 30,000. */
  readonly startTimeoutMs?: number
  /**
   * The time limit for the start of a server by `npx`, `uvx` or the like until it was ready once, since the program may
   * have to be fetched; default 180,000. A server's own `startTimeoutMs` replaces it.
   */
  readonly installTimeoutMs?: number
  /**
   * The time limit for the start of all servers together, in milliseconds; default 60,000. Under `all-or-nothing` the
   * start then fails; under `best-effort` it returns, and missing servers go on starting. It begins again when a server
   * has fetched its program.
   */
  readonly startAllTimeoutMs?: number
  /** The number of retries of a failed start, with pauses of 1 s, 2 s, … up to 30 s; default 3. */
  readonly startRetries?: number
  /** The time limit for silence during a request, in milliseconds; default 60,000. */
  readonly defaultToolTimeoutMs?: number
  /** The time limit for a request with progress, in milliseconds; default 600,000. */
  readonly maxToolTimeoutMs?: number
  /** The time limit for a stop before the process is killed, in milliseconds; default 10,000. */
  readonly stopGraceMs?: number
  /** The number of concurrent requests to one server; default 128. Further ones wait, urgent ones first. */
  readonly maxConcurrentCalls?: number
  /** The limits after which calls of a server or tool are refused because too many failed. */
  readonly circuitBreaker?: CircuitBreakerConfig
  /** The cache of prompts and resources; default 5 minutes and 1,000 entries, `false` for none. */
  readonly cache?: CacheOptions | false
  /**
   * Limits for messages of one server. Messages over them are refused or dropped. Default: `docs/reference/limits.md`.
   */
  readonly messageLimits?: Partial<MessageLimits>
  /** The client info for servers. */
  readonly clientInfo?: Implementation
  /**
   * Capabilities to declare to servers when the callback answers for another client. Default: the kinds with a
   * callback.
   */
  readonly clientCapabilities?: ClientCapabilities
  /**
   * Extensions of the protocol that the application supports, by their ids, to declare to servers. Without effect beside
   * `clientCapabilities`, which has its own.
   */
  readonly extensions?: ClientCapabilities['extensions']
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
  /** A guardian that several hosts of one process share. Default: a new one, disposed with the host. */
  readonly guardian?: Guardian
  /** The clock of `announcedAt`, in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number
  /** The registry that counts requests, which several hosts may share. Default: a new one. */
  readonly metrics?: MetricsRegistry
}

export interface CacheOptions {
  /** The lifetime of an entry whose server gives none, in milliseconds. */
  readonly ttlMs?: number
  /** Limit for the entries. The least recently used are evicted. */
  readonly maxEntries?: number
}

export type SettledOptions = Required<Omit<MCPHostOptions, Unsettled | 'messageLimits'>> &
  Pick<MCPHostOptions, Exclude<Unsettled, 'cache' | 'guardian'>> & {
    readonly messageLimits: MessageLimits
  }

type Unsettled =
  | 'cache'
  | 'guardian'
  | 'clientCapabilities'
  | 'extensions'
  | 'workspaceFolder'
  | 'askInput'

/**
 * Adds the defaults. An option that is `undefined` counts as missing. Throws `RangeError` with the name of the option.
 */
export function withDefaults(options: Omit<MCPHostOptions, 'cache' | 'guardian'>): SettledOptions {
  checkLimits(options)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return {
    // oxlint-disable-next-line node/no-process-env -- the default of an application that gives none
    env: process.env,
    sandbox: NO_SANDBOX,
    proxyFor: () => undefined,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    startPolicy: 'all-or-nothing',
    startTimeoutMs: 30_000,
    installTimeoutMs: 180_000,
    startAllTimeoutMs: 60_000,
    startRetries: 3,
    defaultToolTimeoutMs: 60_000,
    maxToolTimeoutMs: 600_000,
    stopGraceMs: 10_000,
    maxConcurrentCalls: 128,
    circuitBreaker: {},
    strict: false,
    watch: false,
    now: Date.now,
    clientInfo: CLIENT_INFO,
    ...(Object.fromEntries(given) as Omit<typeof options, 'messageLimits'>),
    messageLimits: { ...MESSAGE_LIMITS, ...options.messageLimits },
  }
}

const LIMITS = [
  ['startTimeoutMs', 1],
  ['startAllTimeoutMs', 1],
  ['installTimeoutMs', 1],
  ['startRetries', 0],
  ['defaultToolTimeoutMs', 1],
  ['maxToolTimeoutMs', 1],
  ['stopGraceMs', 0],
  ['maxConcurrentCalls', 1],
] as const

function checkLimits(
  options: Partial<Record<(typeof LIMITS)[number][0], number | undefined>>,
): void {
  for (const [option, least] of LIMITS) {
    const value = options[option] ?? least
    if (!(value >= least)) throw new RangeError(`${option} must be a number, at least ${least}`)
  }
}

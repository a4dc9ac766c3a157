import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client'

import type { AskInput } from './config/ask-inputs.ts'
import type { CircuitBreakerConfig } from './config/mcp-config.ts'
import { MESSAGE_LIMITS, type MessageLimits } from './intake/message-limits.ts'
import type { Environment } from './environment.ts'
import { type Logger, silentLogger } from './logger.ts'
import { MetricsRegistry } from './metrics/host-metrics.ts'
import type { Guardian } from './process/guardian.ts'
import { CLIENT_INFO } from './server/client-info.ts'
import type { StartPolicy } from './server/server-group.ts'

export interface MCPHostOptions {
  /**
   * Where `${NAME}` in the configuration comes from; default: `process.env`. Servers see only a safe
   * part of it (`PATH`, `HOME`, language, time zone, proxies, package managers' settings) besides what is
   * configured for them.
   */
  readonly env?: Environment
  /** Default: silent. */
  readonly logger?: Logger
  /** Default `all-or-nothing`. */
  readonly startPolicy?: StartPolicy
  /** From a server's launch to its first lists, in milliseconds; default 30,000. */
  readonly startTimeoutMs?: number
  /**
   * The same until a server that is started by `npx`, `uvx` or their like was ready once, since they may have to
   * fetch it; default 180,000. A server's own `startTimeoutMs` takes its place.
   */
  readonly installTimeoutMs?: number
  /**
   * How long all servers together may take to start, in milliseconds; default 60,000. Under
   * `all-or-nothing` the start fails then; under `best-effort` it is over for the caller, and those
   * that are missing go on starting. It begins anew when a server has fetched its program.
   */
  readonly startAllTimeoutMs?: number
  /** How often a failed start is tried again, after 1 s, 2 s, … at most 30 s; default 3. */
  readonly startRetries?: number
  /** How long a server may be silent about a request, in milliseconds; default 60,000. */
  readonly defaultToolTimeoutMs?: number
  /** How long a request may take however much progress it reports, in milliseconds; default 600,000. */
  readonly maxToolTimeoutMs?: number
  /** How long a server may take to stop before it is killed, in milliseconds; default 10,000. */
  readonly stopGraceMs?: number
  /** Requests that one server has at a time; more wait, the urgent ones first; default 128. */
  readonly maxConcurrentCalls?: number
  /** When calls of a server or tool are refused because too many failed. */
  readonly circuitBreaker?: CircuitBreakerConfig
  /** Of prompts and resources; default 5 minutes and 1,000 entries, `false` for none. */
  readonly cache?: CacheOptions | false
  /** What one server may send; what is more is refused or left out. Default: `docs/reference/limits.md`. */
  readonly messageLimits?: Partial<MessageLimits>
  /** How the host introduces itself to servers. */
  readonly clientInfo?: Implementation
  /**
   * What servers may ask for, where the callback answers for somebody else; default: all that it is registered
   * for.
   */
  readonly clientCapabilities?: ClientCapabilities
  /**
   * Refuse what only other clients understand in a configuration, such as unknown fields, names
   * with spaces and `${workspaceFolder}`; default `false`: it comes as the event `config-warning`.
   */
  readonly strict?: boolean
  /** See `ReadOptions.workspaceFolder`. */
  readonly workspaceFolder?: string
  /** Asked once for each `${input:id}` that a configuration uses. */
  readonly askInput?: AskInput
  /**
   * Reload when the file given to `initialize` changes; default `false`. The outcome comes as an
   * event, `reload` or `reload-failed`.
   */
  readonly watch?: boolean
  /** Shared by several hosts of one process; default: one of its own, disposed with the host. */
  readonly guardian?: Guardian
  /** Where requests are counted, also for several hosts together; default: one of its own. */
  readonly metrics?: MetricsRegistry
}

export interface CacheOptions {
  /** How long an entry is fresh when its server does not say, in milliseconds. */
  readonly ttlMs?: number
  /** The least recently used go first. */
  readonly maxEntries?: number
}

export type SettledOptions = Required<Omit<MCPHostOptions, Unsettled | 'messageLimits'>> &
  Pick<MCPHostOptions, Exclude<Unsettled, 'cache' | 'guardian'>> & {
    readonly messageLimits: MessageLimits
  }

type Unsettled = 'cache' | 'guardian' | 'clientCapabilities' | 'workspaceFolder' | 'askInput'

/** Throws `RangeError` that names the option. One that is there and undefined is not there. */
export function withDefaults(options: Omit<MCPHostOptions, 'cache' | 'guardian'>): SettledOptions {
  checkLimits(options)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return {
    // oxlint-disable-next-line node/no-process-env -- the default of an application that gives none
    env: process.env,
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

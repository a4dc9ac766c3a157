import type { Environment, Logger } from '@mcp-host/process'
import { silentLogger } from '@mcp-host/process'
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/client'
import type { ServeBuiltIn } from './endpoints/serve-built-in.ts'
import type { UserLogins } from './auth/oauth/user-logins.ts'
import { MESSAGE_LIMITS, type MessageLimits } from './intake/message-limits.ts'
import { MetricsRegistry } from './metrics/host-metrics.ts'
import type { ProxyFor } from './proxy/proxy-for.ts'
import { NO_SANDBOX, type Sandbox } from './sandbox/sandbox.ts'
import type { CircuitBreakerConfig } from './server-config.ts'

/** What servers have in common, beside their own configurations. */
export interface UpstreamOptions {
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
  /**
   * How the user logs in at a server whose `auth` is `oauth`, by the name of the server. Default: as its configuration
   * says.
   */
  readonly logins?: (server: string) => UserLogins
  /** Connects the servers that the host has itself. Default: it has none. */
  readonly builtIn?: ServeBuiltIn
  /** Default: silent. */
  readonly logger?: Logger
  /** The time limit from a server's launch to its first lists, in milliseconds; default 30,000. */
  readonly startTimeoutMs?: number
  /**
   * The time limit for the start of a server by `npx`, `uvx` or the like until it was ready once, since the program may
   * have to be fetched; default 180,000. A server's own `startTimeoutMs` replaces it.
   */
  readonly installTimeoutMs?: number
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
  /** The clock of `announcedAt`, in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number
  /** The registry that counts requests, which several servers share. Default: a new one. */
  readonly metrics?: MetricsRegistry
}

type Optional = 'clientCapabilities' | 'extensions' | 'logins' | 'builtIn'

export type SettledUpstreamOptions = Required<Omit<UpstreamOptions, Optional | 'messageLimits'>> &
  Pick<UpstreamOptions, Optional> & { readonly messageLimits: MessageLimits }

/** Adds the defaults. An option that is `undefined` counts as missing. Throws `RangeError` with the name of the option. */
export function settleUpstreamOptions(options: UpstreamOptions): SettledUpstreamOptions {
  checkLimits(options, LIMITS)
  const { messageLimits, ...rest } = options
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return {
    // oxlint-disable-next-line node/no-process-env -- the default of an application that gives none
    env: process.env,
    sandbox: NO_SANDBOX,
    proxyFor: () => undefined,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    startTimeoutMs: 30_000,
    installTimeoutMs: 180_000,
    startRetries: 3,
    defaultToolTimeoutMs: 60_000,
    maxToolTimeoutMs: 600_000,
    stopGraceMs: 10_000,
    maxConcurrentCalls: 128,
    circuitBreaker: {},
    now: Date.now,
    clientInfo: { name: 'mcp-host', version: '0' },
    ...(Object.fromEntries(given) as typeof rest),
    messageLimits: { ...MESSAGE_LIMITS, ...messageLimits },
  }
}

const LIMITS = [
  ['startTimeoutMs', 1],
  ['installTimeoutMs', 1],
  ['startRetries', 0],
  ['defaultToolTimeoutMs', 1],
  ['maxToolTimeoutMs', 1],
  ['stopGraceMs', 0],
  ['maxConcurrentCalls', 1],
] as const

/** Throws `RangeError` for an option that is less than it may be. */
export function checkLimits<Name extends string>(
  options: { readonly [Each in Name]?: number | undefined },
  limits: readonly (readonly [option: Name, least: number])[],
): void {
  for (const [option, least] of limits) {
    const value = options[option] ?? least
    if (!(value >= least)) throw new RangeError(`${option} must be a number, at least ${least}`)
  }
}

import type { ToolFilter } from '@mcp-host/mcp'

/**
 * The separation of the processes of servers from the host and from each other. `bwrap`: namespaces of bubblewrap, in
 * which a process sees only its own processes. `uid`: a user and a home folder of its own. `none`: a server can do what
 * the user of the host can do.
 */
export type SandboxKind = 'none' | 'uid' | 'bwrap'

export interface SandboxConfig {
  /** Absent: as the host decides. */
  readonly kind?: SandboxKind
  /** Whether the program reaches the network; default true. `false` needs `bwrap`. */
  readonly network?: boolean
  /** Absolute paths of the only files and folders that the program can change; absent: all of its user. Needs `bwrap`. */
  readonly roots?: readonly string[]
}

export interface InstanceConfig {
  /** The share of the requests relative to the other instances; default 1. */
  readonly weight?: number
}

/**
 * The choice of the instance for a request: in turn, the one with the fewest requests for its weight, or by recent
 * failures and latencies. All policies apply weights. `weighted` is another name for `round-robin`.
 */
export type BalancePolicy = 'round-robin' | 'weighted' | 'least-in-flight' | 'health-scored'

export interface CommonServerConfig {
  /** The time limit for silence during a call, in milliseconds; absent: the host's default. */
  readonly timeoutMs?: number
  /** The time limit for a call with progress, in milliseconds; absent: the host's. */
  readonly maxTimeoutMs?: number
  /** The time limit from the start to the first lists, in milliseconds; absent: the host's. */
  readonly startTimeoutMs?: number
  /** The time limit for a stop before the process is killed, in milliseconds; absent: the host's. */
  readonly stopGraceMs?: number
  /** Servers that must be ready before this one starts. They stop after it. */
  readonly dependencies?: readonly string[]
  /** The restart policy. Default: `no` for a process, `on-failure` without a limit for a remote server. */
  readonly restart?: RestartConfig
  /** Periodic pings; absent: the health follows only from requests. */
  readonly healthCheck?: HealthCheckConfig
  /** The limits after which calls are refused because too many failed; absent: the host's. */
  readonly circuitBreaker?: CircuitBreakerConfig
  /** The tools that callers can use; absent: all. */
  readonly tools?: ToolFilter
  /** The check of arguments and results by the tool's schemas; default `lenient`. */
  readonly validateArguments?: ValidationMode
  /** The number of concurrent calls. Further calls wait, urgent ones first; absent: the host's. */
  readonly maxConcurrentCalls?: number
  /** The protocol era. Default `auto`: the server is asked once, and the answer is remembered. */
  readonly protocol?: 'auto' | 'legacy' | 'modern'
  /** For distributed hosts: one process or connection for all sessions (default), or one for each session. */
  readonly scope?: 'shared' | 'session'
  /** For distributed hosts: on one replica at a time (default for stdio), or on every replica. */
  readonly placement?: 'one' | 'every'
  /** For `scope: session`: the time without use after which the server is stopped, in milliseconds. */
  readonly idleTimeoutMs?: number
  /** The distribution of requests over the `instances`; default `round-robin`. */
  readonly balance?: BalancePolicy
  /** Values to mask in errors, logs and health, like those of `env` and `headers`. Their names are shown instead. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Folders that the server gets as roots, as `file://` URIs. They replace the answer of a callback. */
  readonly roots?: readonly string[]
}

/**
 * `lenient` refuses arguments that are missing, of a wrong type, not among the values of an enum, or out of range, and
 * coerces scalars. `strict` applies the whole schema, also to results. `off` applies no schema.
 */
export type ValidationMode = 'strict' | 'lenient' | 'off'

export interface RestartConfig {
  /** Whether the server is restarted: never, after a failure, or after any end except a `shutdown`. */
  readonly policy: 'no' | 'on-failure' | 'always'
  /** The number of restarts within `windowMs`. More are a crash loop, and the server stays down; absent: no limit. */
  readonly maxRestarts?: number
  /** The window, in milliseconds; default 60,000. */
  readonly windowMs?: number
}

export interface HealthCheckConfig {
  /** The time between two pings, in milliseconds. */
  readonly intervalMs: number
  /** The time limit for the answer, in milliseconds; default 5,000. */
  readonly timeoutMs?: number
}

export interface CircuitBreakerConfig {
  /** The number of failures within `windowMs` after which calls are refused; default 5. */
  readonly failures?: number
  /** The window, in milliseconds; default 60,000. */
  readonly windowMs?: number
  /** The time for which calls are refused before one may try, in milliseconds; default 60,000. */
  readonly openMs?: number
}

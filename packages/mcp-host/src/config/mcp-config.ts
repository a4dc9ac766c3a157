/** The servers of a host, by name. */
export interface McpConfig {
  readonly servers: Readonly<Record<string, ServerConfig>>
}

export type ServerConfig = StdioServerConfig | RemoteServerConfig

/** A server that runs as a child process and speaks MCP over its standard streams. */
export interface StdioServerConfig extends CommonServerConfig {
  readonly type: 'stdio'
  /** A path, relative to `cwd`, or a name to look up on the `PATH`. Never a shell line. */
  readonly command: string
  readonly args: readonly string[]
  /** Added to the safe part of the host's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute. */
  readonly cwd: string
  /** Limits of the process with all of its descendants; enforced on Linux. */
  readonly limits?: ResourceLimits
  /** So many processes share the requests, or these, each with what differs. */
  readonly instances?: number | readonly StdioInstance[]
}

export interface StdioInstance extends InstanceConfig {
  /** In the place of the server's. */
  readonly args?: readonly string[]
  /** Beside the server's; wins where both have a variable. */
  readonly env?: Readonly<Record<string, string>>
}

/** A server that runs elsewhere: Streamable HTTP, the older HTTP+SSE, or a WebSocket. */
export interface RemoteServerConfig extends CommonServerConfig {
  readonly type: 'http' | 'sse' | 'websocket'
  /** For `http`: HTTP+SSE is tried where the server refuses Streamable HTTP. */
  readonly fallback?: 'sse'
  /** `http(s)://…`, for a WebSocket `ws(s)://…`. */
  readonly url: string
  /** Sent with every HTTP request, and when a WebSocket is opened. */
  readonly headers: Readonly<Record<string, string>>
  /** These share the requests, each with what differs. */
  readonly instances?: readonly RemoteInstance[]
}

export interface RemoteInstance extends InstanceConfig {
  /** Replaces the server's. */
  readonly url?: string
  /** Beside the server's; wins where both have a header. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface InstanceConfig {
  /** Its share of the requests beside the others; default 1. */
  readonly weight?: number
}

/**
 * Which instance gets a request: each in turn, the one with the fewest for its weight, or by its latest failures
 * and latencies. Weights count in all of them; `weighted` is another word for `round-robin`.
 */
export type BalancePolicy = 'round-robin' | 'weighted' | 'least-in-flight' | 'health-scored'

export interface CommonServerConfig {
  /** The time limit for silence during a call, in milliseconds; absent: the host's default. */
  readonly timeoutMs?: number
  /** The time limit for a call with progress, in milliseconds; absent: the host's. */
  readonly maxTimeoutMs?: number
  /** From the start to the first lists, in milliseconds; absent: the host's. */
  readonly startTimeoutMs?: number
  /** The time limit for a stop before the process is killed, in milliseconds; absent: the host's. */
  readonly stopGraceMs?: number
  /** Servers that must be ready before this one starts, and stop after it. */
  readonly dependencies?: readonly string[]
  /** Default: `no` for a process, `on-failure` without a limit for a remote server. */
  readonly restart?: RestartConfig
  /** Pings at an interval; absent: health is learnt from use alone. */
  readonly healthCheck?: HealthCheckConfig
  /** When calls are refused because too many failed; absent: the host's. */
  readonly circuitBreaker?: CircuitBreakerConfig
  /** Which of its tools exist for callers; absent: all. */
  readonly tools?: ToolFilter
  /** The check of arguments and results by the tool's schemas; default `lenient`. */
  readonly validateArguments?: ValidationMode
  /** Calls beyond it wait, the more urgent first; absent: the host's. */
  readonly maxConcurrentCalls?: number
  /** Which protocol era to speak; default `auto`, which asks the server once and remembers. */
  readonly protocol?: 'auto' | 'legacy' | 'modern'
  /** For distributed hosts: one for all sessions (default), or one of its own for each. */
  readonly scope?: 'shared' | 'session'
  /** For distributed hosts: on one replica at a time (default for stdio), or on every. */
  readonly placement?: 'one' | 'every'
  /** For `scope: session`: stopped when unused for so long, in milliseconds. */
  readonly idleTimeoutMs?: number
  /** The distribution of requests over the `instances`; default `round-robin`. */
  readonly balance?: BalancePolicy
  /** Masked in errors, logs and health, as values of `env` and `headers` are: by names, which are shown instead. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Folders that the server gets as roots, as `file://` URIs, whatever callback is registered. */
  readonly roots?: readonly string[]
}

/**
 * `lenient` refuses arguments that are missing, of a wrong type, no choice of an enum or out of range, and coerces
 * scalars; `strict` applies the whole schema, also to results; `off` applies none.
 */
export type ValidationMode = 'strict' | 'lenient' | 'off'

export interface RestartConfig {
  /** Whether it is started again: never, after a failure, or after any end but a `shutdown`. */
  readonly policy: 'no' | 'on-failure' | 'always'
  /** More than so many restarts within `windowMs` are a crash loop: it stays down; absent: no limit. */
  readonly maxRestarts?: number
  /** In milliseconds; default 60,000. */
  readonly windowMs?: number
}

export interface HealthCheckConfig {
  /** In milliseconds. */
  readonly intervalMs: number
  /** The time limit for the answer, in milliseconds; default 5,000. */
  readonly timeoutMs?: number
}

export interface CircuitBreakerConfig {
  /** So many failures within `windowMs` stop calls; default 5. */
  readonly failures?: number
  /** In milliseconds; default 60,000. */
  readonly windowMs?: number
  /** How long the circuit stays open before one call may try, in milliseconds; default 60,000. */
  readonly openMs?: number
}

/** Names of tools; `*` stands for any characters. What is denied is not there, whatever is allowed. */
export interface ToolFilter {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface ResourceLimits {
  /** Resident memory; more than it ends the process. */
  readonly memoryBytes?: number
  /** The share of one core; a process over it is paused. 200 is two whole cores. */
  readonly cpuPercent?: number
}

import { UnsentError } from '../errors/unsent-error.ts'
import { isLoginNeeded } from '../auth/oauth/login-needed-error.ts'
import type { CancelSignal } from '@mcp-host/async'
import { aborted, pause, timeLimit, toAbortSignal } from '@mcp-host/async'
import { type Implementation, SdkHttpError } from '@modelcontextprotocol/client'

import type { EraChoice } from '../connection/protocol-client.ts'
import { RpcSendError, type RpcTimeout } from '../connection/rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import type { ErrorContext } from '../errors/mcp-host-error.ts'
import { ServerStartupError } from '../errors/server-startup-error.ts'
import { ServerUnavailableError } from '../errors/server-unavailable-error.ts'
import { LIST_NAMES } from '../inventory/inventory.ts'
import { LineQuota, withQuota } from '../intake/line-quota.ts'
import { bindLogger, LaunchError, type Logger } from '@mcp-host/process'
import { backoffMs } from '../policies/backoff.ts'
import { HealthScore } from '../policies/health-score.ts'
import { RestartPolicy } from '../policies/restart.ts'
import { type Mask, maskError, maskSecrets } from '../errors/mask-secrets.ts'
import { GrowingMask } from '../errors/growing-mask.ts'
import type { EndpointDeps } from '../endpoints/endpoint.ts'
import type { EndpointKind } from '../endpoints/endpoint-kind.ts'
import { kindOf, type ServerConfig } from '../endpoints/index.ts'
import { ProcessOutput } from '../endpoints/process-output.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { Notices, type RequestedNotices } from './notices.ts'
import type { ServerSnapshot } from './server-snapshot.ts'
import { moveState, type ServerState } from './server-state.ts'
import { startFailure } from './start-failure.ts'
import { takeSnapshot } from './take-snapshot.ts'

const START_BACKOFF = { firstMs: 1000, maxMs: 30_000 }
/** A server that was ready for this time counts as stable: a later failure is not due to its start. */
const STABLE_MS = 30_000
/** The time limit for the ping after a call has timed out. */
const PING_LIMIT_MS = 5000
const DEFAULT_HEALTH_TIMEOUT_MS = 5000
const TOO_MANY = 429
const SERVER_FAULT = 500
/** The rate of failures from which a further one makes the host check the connection: one of late. */
const FAILING = 0.2

export interface InstanceDeps extends Omit<EndpointDeps, 'output' | 'onToken'> {
  readonly inbox: ConnectionDeps['inbox']
  readonly onListed: ConnectionDeps['onListed']
  readonly now: ConnectionDeps['now']
  /** Called after every change of state or lists. */
  readonly onChange: () => void
  /** Dependencies that are not ready. */
  readonly missing: () => readonly string[]
  readonly requested: RequestedNotices
}

export interface ServerOptions {
  readonly name: string
  readonly config: ServerConfig
  readonly clientInfo: Implementation
  /** The time limit from the start of the process to the first lists, in milliseconds. */
  readonly startTimeoutMs: number
  /**
   * The time limit for a start while a launcher such as `npx` may fetch the program, which is until the server was
   * ready once.
   */
  readonly installTimeoutMs: number
  /** Retries of a failed start. */
  readonly startRetries: number
  /** See `StopOptions.graceMs`. */
  readonly stopGraceMs: number
}

/**
 * One configured server over all of its connections: start, failure, restart, stop. Its requests go through
 * `InstanceClient`.
 */
export class Instance {
  readonly name: string
  readonly config: ServerConfig
  readonly #deps: InstanceDeps
  readonly #kind: EndpointKind<ServerConfig>
  readonly #logger: Logger
  readonly #options: ServerOptions
  readonly #restartPolicy: RestartPolicy
  readonly #output: ProcessOutput
  readonly #secrets: GrowingMask
  /** Log lines about messages that the server sent. */
  readonly #receivedLogger: Logger
  /** Masks the secrets of the server in failures and log lines. */
  readonly mask: Mask
  /** Outcomes of recent requests, reported by the request path. */
  readonly health = new HealthScore()
  /** Aborted when the server begins to stop. */
  readonly #stopping = new AbortController()
  /** Called at the next change of state. */
  readonly #waiting = new Set<() => void>()
  readonly notices: Notices
  #state: ServerState = 'starting'
  #since = Date.now()
  #error: ServerStartupError | ServerUnavailableError | undefined
  #live: Connection | undefined
  /** The era of the last connection. */
  #knownEra: EraChoice | undefined
  /** The configuration of the last connection, which may be a fallback of the configured one. */
  #knownConfig: ServerConfig | undefined
  #restarts = 0
  #attempt: Promise<void> | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #stableTimer: NodeJS.Timeout | undefined
  #healthTimer: NodeJS.Timeout | undefined
  #isRestartPlanned = false
  #isWaitingForDependencies = false
  /** The launcher, such as `npx`, that may fetch the program before its first start. */
  #installer: string | undefined
  #wasReady = false
  #isPinging = false
  #stopped: Promise<void> | undefined

  constructor(deps: InstanceDeps, options: ServerOptions) {
    const { name, config } = options
    this.name = name
    this.config = config
    this.#deps = deps
    this.#options = options
    this.#logger = bindLogger(deps.logger, { component: 'server', server: name })
    this.#kind = kindOf(config)
    const [secrets, shown] = this.#kind.secrets(config)
    this.#secrets = new GrowingMask(maskSecrets({ ...config.secrets, ...secrets }, shown))
    this.mask = this.#secrets.mask
    const quota = new LineQuota({
      onLines: (lines) => deps.onLeftOut('lines', lines),
      onLeftOut: (lines) => {
        const message = `… ${lines} lines of its output are left out`
        this.#logger.warn({ action: 'output', lines }, message)
      },
    })
    this.#output = new ProcessOutput({ logger: this.#logger, mask: this.mask, quota })
    this.#receivedLogger = withQuota(this.#logger, quota)
    this.#restartPolicy = new RestartPolicy(config.restart ?? { policy: this.#kind.restart })
    this.notices = new Notices(
      {
        logger: bindLogger(this.#logger, { action: 'listen' }),
        signal: this.#stopping.signal,
        onMissed: (live) => {
          for (const list of LIST_NAMES) deps.inbox.onListChanged(list)
          void live.relist()
        },
      },
      deps.requested,
    )
  }

  get state(): ServerState {
    return this.#state
  }

  /** The current connection. Throws `ServerUnavailableError` for this request while the server is not ready. */
  live(request: Omit<ErrorContext, 'server' | 'cause'> = {}): Connection {
    if (this.#state === 'ready' && this.#live !== undefined) return this.#live
    const reason = this.#error?.reason ?? `the server "${this.name}" is ${this.#state}`
    throw new ServerUnavailableError(reason, {
      ...request,
      server: this.name,
      cause: this.#error,
      output: this.#error?.output,
    })
  }

  /** The last lines that the server's process wrote outside of the protocol. */
  get lastOutput(): readonly string[] {
    return this.#output.lastLines
  }

  /** Whether the server is starting, or a restart is planned. */
  get isComing(): boolean {
    return this.#state === 'starting' || this.#isRestartPlanned
  }

  /** The last connection, which may have ended. */
  get lastLive(): Connection | undefined {
    return this.#live
  }

  snapshot(): ServerSnapshot {
    return takeSnapshot(this.#live, {
      name: this.name,
      config: this.config,
      state: this.#state,
      since: this.#since,
      isInstalling: this.#installer !== undefined,
      isRestartPlanned: this.#isRestartPlanned,
      sandbox: this.#kind.sandbox?.(this.config, this.#deps.sandbox),
      restarts: this.#restarts,
      error: this.#error,
      health: this.health,
    })
  }

  /**
   * Starts the server once its dependencies have settled, with retries. Throws `ServerStartupError` and leaves nothing
   * running when the last attempt fails, a dependency is not ready or `stop` interrupts. Then its restart policy
   * applies.
   */
  start(dependencies: Promise<unknown> = Promise.resolve()): Promise<void> {
    return (this.#attempt ??= this.#start(dependencies))
  }

  /** Whether the server is unavailable because a dependency is. */
  get isWaitingForDependencies(): boolean {
    return this.#state === 'unavailable' && this.#isWaitingForDependencies
  }

  /** Stops and starts the server, even after its restart policy has given up. Throws like `start`. */
  async restart(): Promise<void> {
    if (this.#state === 'starting') return this.#attempt
    this.#clearTimers()
    this.#isRestartPlanned = true
    if (this.#state === 'ready') this.#unavailable(this.#away('is restarted'))
    await this.#live?.close()
    // The server may have been stopped or restarted meanwhile.
    if (this.#stopping.signal.aborted) throw this.#away('is stopped')
    await (this.state === 'starting' ? this.#attempt : this.#revive())
  }

  /** Stops the server with all its processes. Never throws; the state is `shutdown` afterwards. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  /**
   * Checks the server after a request could not be sent or timed out. Returns `true` when the server has not received
   * the request and is ready again.
   */
  async trouble(live: Connection, error: RpcTimeout | RpcSendError): Promise<boolean> {
    if (error instanceof RpcSendError) {
      // The transport detects the end of a process, with a better reason.
      if (this.#kind.isProcess) return false
      if (error.cause instanceof UnsentError) return false
      // A restarted server has lost the session, and needs a new one.
      if (error.isSessionLost) return this.#reconnect(live)
      const status = statusOf(error)
      // One request may be at fault itself, and too many say nothing about the connection.
      const isFine = status === TOO_MANY || this.health.failureRate < FAILING
      if (status !== undefined && isFine) return false
    }
    if (live === this.#live && this.#state === 'ready') {
      void this.#ping(live, PING_LIMIT_MS, { isRefusalFatal: true })
    }
    return false
  }

  /** Whether the server is ready, or becomes ready within `limitMs` by a start or a planned restart. */
  async comesBack(limitMs: number, signal?: CancelSignal): Promise<boolean> {
    const limits = [timeLimit(limitMs), this.#stopping.signal]
    const end = AbortSignal.any(signal === undefined ? limits : [...limits, toAbortSignal(signal)])
    while (this.#state !== 'ready') {
      if (end.aborted || !this.isComing) return false
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          end.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiting.add(wake)
        end.addEventListener('abort', wake)
      })
    }
    return true
  }

  async #start(dependencies: Promise<unknown>): Promise<void> {
    const { startRetries } = this.#options
    const { signal } = this.#stopping
    // `#open` checks the outcome.
    await Promise.race([dependencies.catch(() => undefined), aborted(signal)])
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#open()
      } catch (error) {
        // A retry would find neither a missing command nor a login.
        const isMissing = error instanceof ServerStartupError && error.cause instanceof LaunchError
        const isHopeless = isMissing || isLoginNeeded(error) || this.#isWaitingForDependencies
        if (isHopeless || attempt >= startRetries || signal.aborted) {
          if (this.#state === 'starting') this.#ended(error as ServerStartupError, true)
          throw error
        }
        // Reported at once, since further attempts may take long.
        this.#error = error as ServerStartupError
        this.#deps.onChange()
        const delayMs = backoffMs(attempt, START_BACKOFF)
        const fields = { action: 'start', err: error, delayMs }
        this.#logger.warn(fields, 'the start failed and is tried again')
        await pause(delayMs, signal)
      }
    }
  }

  /** One attempt to start. Throws `ServerStartupError`. */
  async #open(): Promise<void> {
    const { name, clientInfo, startTimeoutMs, installTimeoutMs, stopGraceMs } = this.#options
    const missing = this.#deps.missing()
    this.#isWaitingForDependencies = missing.length > 0
    if (missing.length > 0) {
      const message = `the server "${name}" needs "${missing.join('", "')}", which is not ready`
      throw new ServerStartupError(message, { server: name })
    }
    const installer = this.#wasReady ? undefined : this.#kind.launcher?.(this.config)
    this.#installer = installer
    if (installer !== undefined) this.#deps.onChange()
    const limitMs = installer === undefined ? startTimeoutMs : installTimeoutMs
    const limit = timeLimit(limitMs)
    const signal = AbortSignal.any([limit, this.#stopping.signal])
    const era = this.config.protocol ?? this.#knownEra ?? 'auto'
    const options = { name, clientInfo, era, config: this.#knownConfig ?? this.config }
    try {
      const live = await Connection.open(
        {
          ...this.#deps,
          logger: this.#receivedLogger,
          mask: this.mask,
          output: this.#output,
          onToken: (token) => this.#secrets.add('token', token),
          onListed: (list) => {
            // The first lists are reported with the state.
            if (this.#state !== 'ready') return
            this.#deps.onChange()
            this.#deps.onListed(list)
          },
          onClose: (closed) => this.#lost(closed, closed.connection.closeReason ?? 'is gone'),
        },
        { ...options, listTimeoutMs: startTimeoutMs, graceMs: stopGraceMs },
        signal,
      )
      this.#live = live
      // While the program was fetched, the probe got no answer, so the era is not reliable.
      this.#knownEra = installer === undefined ? live.connection.era : undefined
      this.#knownConfig = live.config
      this.#error = undefined
      this.#installer = undefined
      this.#wasReady = true
      this.health.checked()
      this.#move('ready')
      this.#watch(live)
      await this.notices.resume(live, startTimeoutMs)
    } catch (cause) {
      // What was remembered may be the reason for the failure.
      this.#knownEra = undefined
      this.#knownConfig = undefined
      const { hasStdout } = this.#output
      const found = { installer, hasStdout, limit, limitMs, stopping: this.#stopping.signal }
      // Masked before it is shortened, since a part of a secret would not be found.
      maskError(cause, this.mask)
      const why = startFailure(cause, { config: this.config, mask: this.mask, ...found })
      const reason = `the server "${name}" ${this.mask(why)}`
      throw new ServerStartupError(reason, { server: name, cause, output: this.lastOutput })
    }
  }

  async #revive(): Promise<void> {
    this.#restarts += 1
    this.#isRestartPlanned = false
    this.#move('starting')
    this.#attempt = this.#open().catch((error: unknown) => {
      if (this.#state === 'starting') this.#ended(error as ServerStartupError, true)
      throw error
    })
    await this.#attempt
  }

  /** Starts a new session to replace that of `live`. Returns whether it is ready. */
  async #reconnect(live: Connection): Promise<boolean> {
    if (live === this.#live && this.#state === 'ready') {
      this.#clearTimers()
      this.#isRestartPlanned = true
      this.#unavailable(this.#away('ended the session'))
      void live.close()
      // A failure is in the state and the log.
      await this.#revive().catch(() => undefined)
    } else {
      // Another request has started the session already.
      await this.#attempt?.catch(() => undefined)
    }
    return this.#state === 'ready'
  }

  async #stop(): Promise<void> {
    this.#clearTimers()
    this.#stopping.abort(new Error(`the server "${this.name}" is stopped`))
    this.#move('stopping')
    // The caller of the attempt gets its failure.
    await this.#attempt?.catch(() => undefined)
    await this.#live?.close()
    this.#move('shutdown')
  }

  /** Handles a ready server whose connection ended, or that does not answer. */
  #lost(live: Connection, reason: string): void {
    if (live !== this.#live || this.#state !== 'ready') return
    const endedWell = live.connection.exitCode === 0
    this.#ended(this.#away(reason, this.lastOutput), !endedWell)
    void live.close()
  }

  /** Applies the restart policy after an end or a failed start. */
  #ended(error: ServerStartupError | ServerUnavailableError, failed: boolean): void {
    this.#clearTimers()
    // Only its user can mend that, and then starts it again.
    const decision = isLoginNeeded(error)
      ? { giveUp: 'its user has to log in' }
      : this.#restartPolicy.next({ failed })
    // The change of state reports it.
    this.#isRestartPlanned = 'delayMs' in decision
    this.#unavailable(error)
    this.#wake()
    if ('giveUp' in decision) {
      const message = `server is unavailable and stays so: ${decision.giveUp}`
      const level = isLoginNeeded(error) ? 'debug' : 'error'
      this.#logger[level]({ action: 'give-up', err: error }, message)
      return
    }
    const { delayMs } = decision
    const fields = { action: 'restart', err: error, delayMs }
    this.#logger.error(fields, 'server is unavailable and will be restarted')
    this.#restartTimer = setTimeout(() => {
      // The failure is in the state and the log, and the policy is applied again.
      this.#revive().catch(() => undefined)
    }, delayMs).unref()
  }

  #unavailable(error: ServerStartupError | ServerUnavailableError): void {
    this.#error = error
    this.health.checked()
    this.#move('unavailable')
  }

  /** Starts the timers for the current connection. */
  #watch(live: Connection): void {
    this.#stableTimer = setTimeout(() => this.#restartPolicy.stable(), STABLE_MS).unref()
    const { healthCheck } = this.config
    if (healthCheck === undefined) return
    const { intervalMs, timeoutMs = DEFAULT_HEALTH_TIMEOUT_MS } = healthCheck
    this.#healthTimer = setInterval(() => void this.#ping(live, timeoutMs), intervalMs).unref()
  }

  /**
   * Pings the server, unless a ping is in flight. Without an answer it gives the connection up. `isRefusalFatal`: so it
   * does when the ping is refused as other requests were.
   */
  async #ping(
    live: Connection,
    timeoutMs: number,
    { isRefusalFatal = false }: { readonly isRefusalFatal?: boolean } = {},
  ): Promise<void> {
    if (this.#isPinging) return
    this.#isPinging = true
    try {
      await live.connection.ping({ timeoutMs, signal: this.#stopping.signal })
      this.health.checked()
      this.#logger.trace?.({ action: 'heartbeat' }, 'server answers')
    } catch (error) {
      // Any answer shows that it is alive.
      if (error instanceof RpcError) return
      if (error instanceof RpcSendError && error.isSessionLost) return void this.#reconnect(live)
      const status = statusOf(error) ?? SERVER_FAULT
      if (status === TOO_MANY || (status < SERVER_FAULT && !isRefusalFatal)) return
      const reason = `does not answer (${error instanceof Error ? error.message : 'unknown'})`
      this.#lost(live, reason)
    } finally {
      this.#isPinging = false
    }
  }

  #clearTimers(): void {
    clearTimeout(this.#restartTimer)
    clearTimeout(this.#stableTimer)
    clearInterval(this.#healthTimer)
  }

  #away(reason: string, output?: readonly string[]): ServerUnavailableError {
    const context = { server: this.name, output }
    return new ServerUnavailableError(`the server "${this.name}" ${reason}`, context)
  }

  #move(to: ServerState): void {
    this.#state = moveState(this.#state, to)
    this.#since = Date.now()
    const fields = { action: 'state', state: to, pid: this.#live?.connection.pid }
    this.#logger.info(fields, 'server state')
    this.#deps.onChange()
    // `#ended` wakes them once it is known whether a restart is planned.
    if (to !== 'unavailable') this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }
}

function statusOf(error: unknown): number | undefined {
  const cause = error instanceof RpcSendError ? error.cause : undefined
  return cause instanceof SdkHttpError ? cause.data.status : undefined
}

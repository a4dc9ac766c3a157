import type { Bus, Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, runSessionTool } from '@mcp-host/contracts'
import type { HostedServer } from './hosted-server.ts'
import { LEASE_TTL_MS } from './obtain-lease.ts'
import { pause } from './pause.ts'
import type { Peers } from './peers.ts'

const FORWARD_TIMEOUT_MS = 1_500
const MAX_TRIES = 5
const AWAY_RETRY_MS = 500

export interface SessionProcessesDeps {
  readonly bus: Bus
  readonly peers: Peers
  /** Starts a process for a session alone. */
  readonly start: (session: SessionId) => HostedServer
  /** Counts the processes of all servers together. */
  readonly places: SessionPlaces
  readonly idleTimeoutMs: number
  readonly warn: (error: unknown) => void
}

/** How many processes of their own sessions may have at this supervisor. */
export class SessionPlaces {
  readonly #limit: number
  /** What ends each process that has no call under way; whose last one ended first is first. */
  readonly #idle = new Map<object, () => Promise<void>>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Where all are taken it ends the process that was idle for longest. Throws `unavailable` when none is:
   * another supervisor may have room.
   */
  async take(): Promise<void> {
    while (this.#taken >= this.#limit) {
      const [longest] = this.#idle
      if (longest === undefined) {
        const message = `all ${this.#limit} processes that sessions may have of their own are in use; try again later or raise MAX_SESSION_PROCESSES`
        throw new BusError('unavailable', message)
      }
      const [process, end] = longest
      this.#idle.delete(process)
      await end()
    }
    this.#taken++
  }

  /** From now on it may be ended to make room. */
  setIdle(process: object, end: () => Promise<void>): void {
    this.#idle.set(process, end)
  }

  setBusy(process: object): void {
    this.#idle.delete(process)
  }

  give(): void {
    this.#taken--
  }
}

interface SessionProcess {
  readonly server: HostedServer
  lease: Lease
  idle?: NodeJS.Timeout
  /** Resolves when it is gone; set once it is going. */
  closed?: Promise<void>
}

/**
 * The processes that sessions have of their own for one server, of all sessions whose lease is here. A
 * session's first call starts one wherever it lands; later ones are passed on to it.
 */
export class SessionProcesses implements AsyncDisposable {
  readonly #deps: SessionProcessesDeps
  readonly #server: ServerName
  readonly #processes = new Map<SessionId, SessionProcess>()
  readonly #placing = new Map<SessionId, Promise<SessionProcess | { readonly peer: string }>>()
  #isClosed = false

  constructor(deps: SessionProcessesDeps, server: ServerName) {
    this.#deps = deps
    this.#server = server
  }

  get size(): number {
    return this.#processes.size
  }

  /** Takes a call from the queue: runs it here or passes it on to the session's supervisor. */
  async run(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const { session } = served.request
    const place = await this.#place(session)
    if (!('peer' in place)) return this.#use(session, place, served)
    const { bus } = this.#deps
    const { envelope, request } = served
    const deadline = Date.now() + FORWARD_TIMEOUT_MS
    const options = {
      envelope: childEnvelope(envelope, deadline),
      timeoutMs: FORWARD_TIMEOUT_MS,
    }
    const passedOn = { ...request, server: this.#server }
    return bus.call(runSessionTool, { supervisor: place.peer }, passedOn, options)
  }

  /** Takes a call that another supervisor passed on because the session is here. */
  async runHere(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const { session } = served.request
    const place = await this.#place(session)
    if (!('peer' in place)) return this.#use(session, place, served)
    throw new BusError('unavailable', 'the session has moved; try again')
  }

  /** Ends all; the calls under way are waited for when `isGraceful`. */
  async close({ isGraceful }: { isGraceful: boolean }): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#placing.values())
    await this.#closeAll(isGraceful)
  }

  /** Ends all processes; a session's next call starts another. */
  async restart(): Promise<void> {
    await this.#closeAll(false)
  }

  async #closeAll(isGraceful: boolean): Promise<void> {
    await Promise.all(
      Array.from(this.#processes, async ([session, process]) => {
        if (isGraceful) await process.server.drained()
        await this.#close(session, process)
      }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close({ isGraceful: false })
  }

  #use(
    session: SessionId,
    process: SessionProcess,
    served: ServedRequest<RunToolRequest>,
  ): { supervisor: string } {
    if (!process.lease.isHeld || process.closed !== undefined) {
      throw new BusError('unavailable', 'the session is moving; try again')
    }
    clearTimeout(process.idle)
    this.#deps.places.setBusy(process)
    const accepted = process.server.run(served)
    void process.server.drained().then(() => this.#rest(session, process))
    return accepted
  }

  /** After a call: ends a process that is broken, or that nobody uses for long. */
  #rest(session: SessionId, process: SessionProcess): void {
    const { server } = process
    if (server.inFlight > 0 || process.closed !== undefined) return
    const { state } = server.snapshot ?? { state: 'starting' }
    clearTimeout(process.idle)
    const idleMs = state === 'unavailable' ? 0 : this.#deps.idleTimeoutMs
    const end = (): Promise<void> => this.#close(session, process)
    process.idle = setTimeout(() => void end(), idleMs).unref()
    this.#deps.places.setIdle(process, end)
  }

  /** One at a time for each session: of two calls at once the second finds what the first began. */
  #place(session: SessionId): Promise<SessionProcess | { readonly peer: string }> {
    const placing =
      this.#placing.get(session) ??
      this.#find(session).finally(() => void this.#placing.delete(session))
    this.#placing.set(session, placing)
    return placing
  }

  async #find(session: SessionId): Promise<SessionProcess | { readonly peer: string }> {
    const { bus, peers, places } = this.#deps
    const key = `session.${this.#server}.${session}`
    const options = { ttlMs: LEASE_TTL_MS }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.#isClosed) break
      const known = this.#processes.get(session)
      if (known !== undefined) {
        if (known.closed === undefined) return known
        await known.closed
      }
      const record = await bus.leases.holder(key)
      if (record !== undefined && record.holder !== bus.id) {
        if (!(await peers.isGone(record.holder))) return { peer: record.holder }
      }
      await places.take()
      try {
        const lease =
          record === undefined || record.holder === bus.id
            ? await bus.leases.acquire(key, options)
            : await bus.leases.take(key, record.revision, options)
        if (lease !== undefined) return await this.#begin(session, lease)
      } catch (error) {
        places.give()
        throw error
      }
      // Another was faster: ask who.
      places.give()
    }
    throw new BusError('unavailable', 'the session is moving; try again')
  }

  async #begin(session: SessionId, lease: Lease): Promise<SessionProcess> {
    try {
      const process: SessionProcess = { server: this.#deps.start(session), lease }
      this.#processes.set(session, process)
      this.#watch(session, process)
      return process
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  #watch(session: SessionId, process: SessionProcess): void {
    const onLost = (): void => void this.#regain(session, process)
    process.lease.lost.addEventListener('abort', onLost, { once: true })
  }

  /** The broker was away for long: the process goes on unless the session has another by now. */
  async #regain(session: SessionId, process: SessionProcess): Promise<void> {
    const isWanted = (): boolean => process.closed === undefined && !this.#isClosed
    while (isWanted()) {
      try {
        const lease = await this.#deps.bus.leases.acquire(process.lease.key, {
          ttlMs: LEASE_TTL_MS,
        })
        if (lease === undefined) return await this.#close(session, process)
        if (process.closed !== undefined) {
          await process.closed
          return await lease.release()
        }
        process.lease = lease
        return this.#watch(session, process)
      } catch {
        // Still away.
        await pause(AWAY_RETRY_MS)
      }
    }
  }

  /** The lease goes last: nobody may start another process for the session before this one is gone. */
  #close(session: SessionId, process: SessionProcess): Promise<void> {
    clearTimeout(process.idle)
    this.#deps.places.setBusy(process)
    process.closed ??= (async () => {
      try {
        try {
          await process.server[Symbol.asyncDispose]()
        } finally {
          await process.lease.release()
        }
      } catch (error) {
        this.#deps.warn(error)
      } finally {
        this.#processes.delete(session)
        this.#deps.places.give()
      }
    })()
    return process.closed
  }
}

import type { Bus, Lease } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import { LEASE_TTL_MS } from './obtain-lease.ts'
import { sleep } from '@mcp-host/async'
import type { Peers } from './peers.ts'
import type { ProcessSlots } from './process-slots.ts'

const MAX_TRIES = 5
const AWAY_RETRY_MS = 500

export interface DedicatedProcessesDeps {
  readonly bus: Bus
  readonly peers: Peers
  /** Counts the processes of all servers together. */
  readonly slots: ProcessSlots
  readonly idleTimeoutMs: number
  readonly warn: (error: unknown) => void
}

interface DedicatedProcess {
  readonly server: HostedServer
  /** The principal of the first call. */
  readonly principal: string
  readonly slot: Disposable
  lease: Lease
  idle?: NodeJS.Timeout
  /** Resolves when the process has ended; set once it is ending. */
  closed?: Promise<void>
}

/** Runs a function with the process. Throws `unavailable` when the process is moving. */
export type Use = <T>(run: (server: HostedServer) => T) => T

/** A process at this supervisor, or the peer that runs the process. */
type Located = Use | { readonly peer: string }

/**
 * The dedicated processes of one server whose leases are at this supervisor, by the name of their session or client.
 * The first use of a name starts its process.
 */
export class DedicatedProcesses<Name extends string> {
  protected readonly deps: DedicatedProcessesDeps
  protected readonly server: ServerName
  readonly #processes = new Map<Name, DedicatedProcess>()
  readonly #locating = new Map<Name, Promise<Located>>()
  #isClosed = false

  constructor(deps: DedicatedProcessesDeps, server: ServerName) {
    this.deps = deps
    this.server = server
  }

  get size(): number {
    return this.#processes.size
  }

  /** Ends all processes. With `isGraceful`, calls in flight are completed first. */
  async close({ isGraceful }: { isGraceful: boolean }): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#locating.values())
    await this.#closeAll(isGraceful)
  }

  /** Ends all processes. The next use of each name starts a new one. */
  async restart(): Promise<void> {
    await this.#closeAll(false)
  }

  protected has(name: Name): boolean {
    return this.#processes.has(name)
  }

  /**
   * The process of a name, which is started for a principal if necessary, or the peer that has it. Coalesces concurrent
   * calls for a name.
   */
  protected locate(
    name: Name,
    principal: string,
    start: (use: Use) => HostedServer,
  ): Promise<Located> {
    const locating =
      this.#locating.get(name) ??
      this.#locate(name, principal, start).finally(() => void this.#locating.delete(name))
    this.#locating.set(name, locating)
    return locating
  }

  /** Ends the process of a name, if this supervisor runs it. */
  protected async end(name: Name): Promise<void> {
    const process = this.#processes.get(name)
    if (process !== undefined) await this.#close(name, process)
  }

  async #closeAll(isGraceful: boolean): Promise<void> {
    await Promise.all(
      Array.from(this.#processes, async ([name, process]) => {
        process.server.abandon()
        if (isGraceful) await process.server.drained()
        await this.#close(name, process)
      }),
    )
  }

  #use<T>(name: Name, process: DedicatedProcess, run: (server: HostedServer) => T): T {
    if (!process.lease.isHeld || process.closed !== undefined) throw moving()
    clearTimeout(process.idle)
    this.deps.slots.setBusy(process)
    const accepted = run(process.server)
    void process.server.drained().then(() => this.#onIdle(name, process))
    return accepted
  }

  /** Ends a broken process at once, and an idle one after a while. */
  #onIdle(name: Name, process: DedicatedProcess): void {
    const { server } = process
    if (server.inFlight > 0 || process.closed !== undefined) return
    clearTimeout(process.idle)
    const idleMs = server.snapshot?.state === 'unavailable' ? 0 : this.deps.idleTimeoutMs
    const end = (): Promise<void> => this.#close(name, process)
    process.idle = setTimeout(() => void end(), idleMs).unref()
    this.deps.slots.setIdle(process, { principal: process.principal, end })
  }

  async #locate(
    name: Name,
    principal: string,
    start: (use: Use) => HostedServer,
  ): Promise<Located> {
    const { bus, peers, slots } = this.deps
    const key = `session.${this.server}.${name}`
    const options = { ttlMs: LEASE_TTL_MS }
    for (let tries = 0; tries < MAX_TRIES && !this.#isClosed; tries++) {
      const known = this.#processes.get(name)
      if (known !== undefined) {
        if (known.closed === undefined) return (run) => this.#use(name, known, run)
        await known.closed
      }
      const record = await bus.leases.holder(key)
      const foreign = record?.holder === bus.id ? undefined : record
      if (foreign !== undefined && !(await peers.isGone(foreign.holder))) {
        return { peer: foreign.holder }
      }
      const slot = await slots.take(principal)
      try {
        const lease =
          foreign === undefined
            ? await bus.leases.acquire(key, options)
            : await bus.leases.take(key, foreign.revision, options)
        if (lease !== undefined) {
          return await this.#begin(name, { principal, slot, lease }, start)
        }
      } catch (error) {
        slot[Symbol.dispose]()
        throw error
      }
      // Another supervisor won the lease, so its holder is looked up again.
      slot[Symbol.dispose]()
    }
    throw moving()
  }

  async #begin(
    name: Name,
    about: Pick<DedicatedProcess, 'principal' | 'slot' | 'lease'>,
    start: (use: Use) => HostedServer,
  ): Promise<Use> {
    try {
      const use: Use = (run) => this.#use(name, process, run)
      const process: DedicatedProcess = { server: start(use), ...about }
      this.#processes.set(name, process)
      this.#watch(name, process)
      return use
    } catch (error) {
      await about.lease.release()
      throw error
    }
  }

  #watch(name: Name, process: DedicatedProcess): void {
    const onLost = (): void => void this.#regain(name, process)
    process.lease.lost.addEventListener('abort', onLost, { once: true })
  }

  /** After a long outage of the broker: keeps the process unless another supervisor has taken its lease. */
  async #regain(name: Name, process: DedicatedProcess): Promise<void> {
    const isOpen = (): boolean => process.closed === undefined && !this.#isClosed
    while (isOpen()) {
      try {
        const { key } = process.lease
        const lease = await this.deps.bus.leases.acquire(key, { ttlMs: LEASE_TTL_MS })
        if (lease === undefined) return await this.#close(name, process)
        if (process.closed !== undefined) {
          await process.closed
          return await lease.release()
        }
        process.lease = lease
        return this.#watch(name, process)
      } catch {
        // The broker cannot be reached yet.
        await sleep(AWAY_RETRY_MS)
      }
    }
  }

  #close(name: Name, process: DedicatedProcess): Promise<void> {
    clearTimeout(process.idle)
    this.deps.slots.setBusy(process)
    process.closed ??= endProcess(process)
      .catch(this.deps.warn)
      .finally(() => {
        this.#processes.delete(name)
        process.slot[Symbol.dispose]()
      })
    return process.closed
  }
}

async function endProcess({ server, lease }: DedicatedProcess): Promise<void> {
  try {
    await server[Symbol.asyncDispose]()
  } finally {
    // This comes last, since no other process for the name may start before this one has ended.
    await lease.release()
  }
}

function moving(): BusError {
  return new BusError('unavailable', 'the process is moving; try again')
}

import type { Bus, Lease } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import { LEASE_TTL_MS } from './obtain-lease.ts'
import { sleep } from 'mcp-host/async'
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
  lease: Lease
  idle?: NodeJS.Timeout
  /** Resolves when it is gone; set once it is going. */
  closed?: Promise<void>
}

/** Runs a function with the process. Throws `unavailable` when the process is moving. */
export type Use = <T>(run: (server: HostedServer) => T) => T

/**
 * The dedicated processes of one server whose leases are at this supervisor, by the name of their session or client.
 * The first use of a name starts its process.
 */
export class DedicatedProcesses<Name extends string> {
  readonly #deps: DedicatedProcessesDeps
  readonly #server: ServerName
  readonly #processes = new Map<Name, DedicatedProcess>()
  readonly #placing = new Map<Name, Promise<Use | { readonly peer: string }>>()
  #isClosed = false

  constructor(deps: DedicatedProcessesDeps, server: ServerName) {
    this.#deps = deps
    this.#server = server
  }

  get size(): number {
    return this.#processes.size
  }

  has(name: Name): boolean {
    return this.#processes.has(name)
  }

  /**
   * The process of a name, started where there is none, or the supervisor that has it. One at a time for each
   * name: of two at once the second finds what the first began.
   */
  place(name: Name, start: (use: Use) => HostedServer): Promise<Use | { readonly peer: string }> {
    const placing =
      this.#placing.get(name) ??
      this.#find(name, start).finally(() => void this.#placing.delete(name))
    this.#placing.set(name, placing)
    return placing
  }

  /** Ends the process of a name, if it is here. */
  async end(name: Name): Promise<void> {
    const process = this.#processes.get(name)
    if (process !== undefined) await this.#close(name, process)
  }

  /** Ends all; the calls under way are waited for when `isGraceful`. */
  async close({ isGraceful }: { isGraceful: boolean }): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#placing.values())
    await this.#closeAll(isGraceful)
  }

  /** Ends all processes; the next use starts another. */
  async restart(): Promise<void> {
    await this.#closeAll(false)
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
    if (!process.lease.isHeld || process.closed !== undefined) {
      throw new BusError('unavailable', 'the process is moving; try again')
    }
    clearTimeout(process.idle)
    this.#deps.slots.setBusy(process)
    const accepted = run(process.server)
    void process.server.drained().then(() => this.#rest(name, process))
    return accepted
  }

  /** After a call: ends a broken process at once, and an idle one after a while. */
  #rest(name: Name, process: DedicatedProcess): void {
    const { server } = process
    if (server.inFlight > 0 || process.closed !== undefined) return
    const { state } = server.snapshot ?? { state: 'starting' }
    clearTimeout(process.idle)
    const idleMs = state === 'unavailable' ? 0 : this.#deps.idleTimeoutMs
    const end = (): Promise<void> => this.#close(name, process)
    process.idle = setTimeout(() => void end(), idleMs).unref()
    this.#deps.slots.setIdle(process, end)
  }

  async #find(
    name: Name,
    start: (use: Use) => HostedServer,
  ): Promise<Use | { readonly peer: string }> {
    const { bus, peers, slots } = this.#deps
    const key = `session.${this.#server}.${name}`
    const options = { ttlMs: LEASE_TTL_MS }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.#isClosed) break
      const known = this.#processes.get(name)
      if (known !== undefined) {
        if (known.closed === undefined) return (run) => this.#use(name, known, run)
        await known.closed
      }
      const record = await bus.leases.holder(key)
      if (record !== undefined && record.holder !== bus.id) {
        if (!(await peers.isGone(record.holder))) return { peer: record.holder }
      }
      await slots.take()
      try {
        const lease =
          record === undefined || record.holder === bus.id
            ? await bus.leases.acquire(key, options)
            : await bus.leases.take(key, record.revision, options)
        if (lease !== undefined) return await this.#begin(name, lease, start)
      } catch (error) {
        slots.give()
        throw error
      }
      // Another supervisor won the lease: look for its holder.
      slots.give()
    }
    throw new BusError('unavailable', 'the process is moving; try again')
  }

  async #begin(name: Name, lease: Lease, start: (use: Use) => HostedServer): Promise<Use> {
    try {
      const use: Use = (run) => this.#use(name, process, run)
      const process: DedicatedProcess = { server: start(use), lease }
      this.#processes.set(name, process)
      this.#watch(name, process)
      return use
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  #watch(name: Name, process: DedicatedProcess): void {
    const onLost = (): void => void this.#regain(name, process)
    process.lease.lost.addEventListener('abort', onLost, { once: true })
  }

  /** After a long outage of the broker: keeps the process unless another supervisor has taken its lease. */
  async #regain(name: Name, process: DedicatedProcess): Promise<void> {
    const isWanted = (): boolean => process.closed === undefined && !this.#isClosed
    while (isWanted()) {
      try {
        const lease = await this.#deps.bus.leases.acquire(process.lease.key, {
          ttlMs: LEASE_TTL_MS,
        })
        if (lease === undefined) return await this.#close(name, process)
        if (process.closed !== undefined) {
          await process.closed
          return await lease.release()
        }
        process.lease = lease
        return this.#watch(name, process)
      } catch {
        // Still away.
        await sleep(AWAY_RETRY_MS)
      }
    }
  }

  /** Releases the lease last: no other process for the name may start before this one has ended. */
  #close(name: Name, process: DedicatedProcess): Promise<void> {
    clearTimeout(process.idle)
    this.#deps.slots.setBusy(process)
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
        this.#processes.delete(name)
        this.#deps.slots.give()
      }
    })()
    return process.closed
  }
}

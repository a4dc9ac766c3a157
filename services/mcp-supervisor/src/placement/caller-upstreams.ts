import type { Bus, Lease } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { LEASE_TTL_MS } from '../leases/obtain-lease.ts'
import { sleep } from '@mcp-host/async'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import type { Peers } from '../leases/peers.ts'
import type { ProcessSlots } from './process-slots.ts'

const MAX_TRIES = 5
const AWAY_RETRY_MS = 500

/** What tells the callers of a server apart. Callers with one name share an upstream. */
export interface CallerKey<Caller> {
  /**
   * The first part of the keys of its leases. `undefined`: each supervisor may have an upstream of the caller, without a
   * lease.
   */
  readonly lease: string | undefined
  nameOf(caller: Caller): string
  /** The principal against whose share of all processes the upstream counts. */
  principalOf(caller: Caller): string
}

export interface CallerUpstreamsDeps {
  readonly bus: Bus
  readonly peers: Peers
  /** Counts the processes of all servers together. */
  readonly slots: ProcessSlots
  readonly idleTimeoutMs: number
  readonly warn: (error: unknown) => void
}

interface CallerUpstreamsOptions<Caller> {
  readonly server: ServerName
  readonly key: CallerKey<Caller>
  /** Starts the upstream of a caller. */
  readonly start: (caller: Caller, use: Use) => HostedServer
}

interface CallerUpstream {
  readonly server: HostedServer
  /** The principal of the first call. */
  readonly principal: string
  readonly slot: Disposable
  lease: Lease | undefined
  idle?: NodeJS.Timeout
  /** Resolves when the upstream has ended; set once it is ending. */
  closed?: Promise<void>
}

/** Runs a function with the upstream. Throws `unavailable` when it is moving. */
export type Use = <T>(run: (server: HostedServer) => T) => T

/** An upstream at this supervisor, or the peer that runs the upstream. */
type Located = Use | { readonly peer: string }

/**
 * The upstreams of one server for callers of one type, such as sessions, as far as their leases are at this supervisor.
 * The first use by a caller starts its upstream.
 */
export class CallerUpstreams<Caller> {
  readonly #deps: CallerUpstreamsDeps
  readonly #options: CallerUpstreamsOptions<Caller>
  readonly #upstreams = new Map<string, CallerUpstream>()
  readonly #locating = new Map<string, Promise<Located>>()
  #isClosed = false

  constructor(deps: CallerUpstreamsDeps, options: CallerUpstreamsOptions<Caller>) {
    this.#deps = deps
    this.#options = options
  }

  get size(): number {
    return this.#upstreams.size
  }

  /** Ends all upstreams. With `isGraceful`, calls in flight are completed first. */
  async close({ isGraceful }: { isGraceful: boolean }): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#locating.values())
    await this.#closeAll(isGraceful)
  }

  /** Ends all upstreams. The next use of each name starts a new one. */
  async restart(): Promise<void> {
    await this.#closeAll(false)
  }

  has(name: string): boolean {
    return this.#upstreams.has(name)
  }

  /** The upstream of a caller, which is started if necessary, or the peer that has it. Coalesces concurrent calls. */
  locate(caller: Caller): Promise<Located> {
    const name = this.#options.key.nameOf(caller)
    const locating =
      this.#locating.get(name) ??
      this.#locate(name, caller).finally(() => void this.#locating.delete(name))
    this.#locating.set(name, locating)
    return locating
  }

  /** Ends the upstream of a name, if this supervisor runs it. */
  async end(name: string): Promise<void> {
    const upstream = this.#upstreams.get(name)
    if (upstream !== undefined) await this.#close(name, upstream)
  }

  async #closeAll(isGraceful: boolean): Promise<void> {
    await Promise.all(
      Array.from(this.#upstreams, async ([name, upstream]) => {
        upstream.server.abandon()
        if (isGraceful) await upstream.server.drained()
        await this.#close(name, upstream)
      }),
    )
  }

  #use<T>(name: string, upstream: CallerUpstream, run: (server: HostedServer) => T): T {
    if (upstream.lease?.isHeld === false || upstream.closed !== undefined) throw moving()
    clearTimeout(upstream.idle)
    this.#deps.slots.setBusy(upstream)
    const accepted = run(upstream.server)
    void upstream.server.drained().then(() => this.#onIdle(name, upstream))
    return accepted
  }

  /** Ends a broken upstream at once, and an idle one after a while. */
  #onIdle(name: string, upstream: CallerUpstream): void {
    const { server } = upstream
    if (server.inFlight > 0 || upstream.closed !== undefined) return
    clearTimeout(upstream.idle)
    const idleMs = server.snapshot?.state === 'unavailable' ? 0 : this.#deps.idleTimeoutMs
    const end = (): Promise<void> => this.#close(name, upstream)
    upstream.idle = setTimeout(() => void end(), idleMs).unref()
    this.#deps.slots.setIdle(upstream, { principal: upstream.principal, end })
  }

  async #locate(name: string, caller: Caller): Promise<Located> {
    const { bus, peers, slots } = this.#deps
    const { server, key: type } = this.#options
    const key = type.lease === undefined ? undefined : `${type.lease}.${server}.${name}`
    const principal = type.principalOf(caller)
    const options = { ttlMs: LEASE_TTL_MS }
    for (let tries = 0; tries < MAX_TRIES && !this.#isClosed; tries++) {
      const known = this.#upstreams.get(name)
      if (known !== undefined) {
        if (known.closed === undefined) return (run) => this.#use(name, known, run)
        await known.closed
      }
      const record = key === undefined ? undefined : await bus.leases.holder(key)
      const foreign = record?.holder === bus.id ? undefined : record
      if (foreign !== undefined && !(await peers.isGone(foreign.holder))) {
        return { peer: foreign.holder }
      }
      const slot = await slots.take(principal)
      try {
        const lease =
          key === undefined
            ? undefined
            : await (foreign === undefined
                ? bus.leases.acquire(key, options)
                : bus.leases.take(key, foreign.revision, options))
        if (key === undefined || lease !== undefined) {
          return await this.#begin(name, caller, { principal, slot, lease })
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
    name: string,
    caller: Caller,
    about: Pick<CallerUpstream, 'principal' | 'slot' | 'lease'>,
  ): Promise<Use> {
    try {
      const use: Use = (run) => this.#use(name, upstream, run)
      const upstream: CallerUpstream = { server: this.#options.start(caller, use), ...about }
      this.#upstreams.set(name, upstream)
      this.#watch(name, upstream)
      return use
    } catch (error) {
      await about.lease?.release()
      throw error
    }
  }

  #watch(name: string, upstream: CallerUpstream): void {
    const { lease } = upstream
    if (lease === undefined) return
    const onLost = (): void => void this.#regain(name, upstream, lease.key)
    lease.lost.addEventListener('abort', onLost, { once: true })
  }

  /** After a long outage of the broker: keeps the upstream unless another supervisor has taken its lease. */
  async #regain(name: string, upstream: CallerUpstream, key: string): Promise<void> {
    const isOpen = (): boolean => upstream.closed === undefined && !this.#isClosed
    while (isOpen()) {
      try {
        const lease = await this.#deps.bus.leases.acquire(key, { ttlMs: LEASE_TTL_MS })
        if (lease === undefined) return await this.#close(name, upstream)
        if (upstream.closed !== undefined) {
          await upstream.closed
          return await lease.release()
        }
        upstream.lease = lease
        return this.#watch(name, upstream)
      } catch {
        // The broker cannot be reached yet.
        await sleep(AWAY_RETRY_MS)
      }
    }
  }

  #close(name: string, upstream: CallerUpstream): Promise<void> {
    clearTimeout(upstream.idle)
    this.#deps.slots.setBusy(upstream)
    upstream.closed ??= endUpstream(upstream)
      .catch(this.#deps.warn)
      .finally(() => {
        this.#upstreams.delete(name)
        upstream.slot[Symbol.dispose]()
      })
    return upstream.closed
  }
}

async function endUpstream({ server, lease }: CallerUpstream): Promise<void> {
  try {
    await server[Symbol.asyncDispose]()
  } finally {
    // This comes last, since no other upstream for the name may start before this one has ended.
    await lease?.release()
  }
}

function moving(): BusError {
  return new BusError('unavailable', 'the process is moving; try again')
}

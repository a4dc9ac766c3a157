import type { Bus, CatalogView, Lease, LeaseView } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { sleep } from '@mcp-host/async'
import type { Peers } from './peers.ts'
import { STEADY_MS } from './peers.ts'
import { claimDelayMs } from './claim-delay.ts'

/** The lifetime of a lease without renewal. */
export const LEASE_TTL_MS = 5_000
/** The time after which the view is checked against the broker, since it may have missed a change. */
const TRUST_MS = 5_000
const RETRY_MS = 100
const AWAY_RETRY_MS = 500

export interface ObtainLeaseDeps {
  readonly bus: Bus
  readonly catalog: CatalogView
  readonly leases: LeaseView
  readonly peers: Peers
  readonly logger: Logger
  /** Called with a dead holder, whose catalog entries can be removed. */
  readonly onDead: (supervisor: string) => void
}

export interface ObtainLeaseOptions {
  readonly signal: AbortSignal
  /** Whether the server still runs here after a lost lease. Then a free lease is taken without delay. */
  readonly isLeftover: () => boolean
  /** Ends that server, since another supervisor has the lease. */
  readonly onForeign: () => Promise<void>
}

/**
 * Waits until the lease is free or its holder is dead, and takes it. Outages of the broker delay this. Throws the
 * signal's reason.
 */
export async function obtainLease(
  deps: ObtainLeaseDeps,
  key: string,
  options: ObtainLeaseOptions,
): Promise<Lease> {
  const { signal } = options
  /** Messages of errors that were logged since the last success. */
  const logged = new Set<string>()
  for (;;) {
    signal.throwIfAborted()
    try {
      const lease = await tryToObtain(deps, key, options)
      if (lease !== undefined) return lease
      logged.clear()
    } catch (err) {
      signal.throwIfAborted()
      const message = err instanceof Error ? err.message : String(err)
      const fields = { component: 'placement', action: 'lease', key, err }
      if (!logged.has(message)) deps.logger.warn(fields, 'could not obtain a lease; trying again')
      logged.add(message)
      await sleep(AWAY_RETRY_MS, signal)
    }
  }
}

/** The lease, or `undefined` when the caller must try again at once. */
async function tryToObtain(
  deps: ObtainLeaseDeps,
  key: string,
  { signal, isLeftover, onForeign }: ObtainLeaseOptions,
): Promise<Lease | undefined> {
  const { bus, catalog, leases } = deps
  const options = { ttlMs: LEASE_TTL_MS }
  const holder = leases.holders.get(key)?.holder
  if (holder === undefined || holder === bus.id) {
    if (!isLeftover()) {
      await sleep(claimDelayMs(key, bus.id, catalog.entries.values()), signal)
      // The lease may have expired while its holder could not reach the broker.
      if (bus.sinceOutageMs() < STEADY_MS) await sleep(STEADY_MS, signal)
    }
    const lease = await bus.leases.acquire(key, options)
    // Another supervisor has it, which the view does not show yet.
    if (lease === undefined) await sleep(RETRY_MS, signal)
    return lease
  }
  await onForeign()
  const end = await endOf(deps, key, holder, signal)
  if (end === 'changed') return undefined
  const now = await bus.leases.holder(key)
  if (end === 'dead' && now?.holder === holder) {
    deps.onDead(holder)
    await sleep(claimDelayMs(key, bus.id, catalog.entries.values(), holder), signal)
    return bus.leases.take(key, now.revision, options)
  }
  return now === undefined ? bus.leases.acquire(key, options) : undefined
}

/** Waits until the holder dies or loses the lease, or until the view must be checked. */
async function endOf(
  { leases, peers }: ObtainLeaseDeps,
  key: string,
  holder: string,
  signal: AbortSignal,
): Promise<'dead' | 'changed' | 'unsure'> {
  const end = Promise.withResolvers<'dead' | 'changed' | 'unsure'>()
  const onAbort = (): void => end.reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const timer = setTimeout(() => end.resolve('unsure'), TRUST_MS)
  try {
    using _view = leases.onChange(() => {
      if (leases.holders.get(key)?.holder !== holder) end.resolve('changed')
    })
    using _peer = peers.watch(holder, () => end.resolve('dead'))
    if (leases.holders.get(key)?.holder !== holder) return 'changed'
    if (signal.aborted) onAbort()
    return await end.promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

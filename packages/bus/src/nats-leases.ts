import { headers } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey, wholeSeconds } from './bucket-key.ts'
import type { BucketWatchDeps } from './bucket-watch.ts'
import { watchBucket } from './bucket-watch.ts'
import type { Lease, LeaseRecord, Leases, LeaseView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'
import { isFenced } from './nats-error.ts'

export const LEASE_BUCKET = 'OWN'

/** The time for which an ended lease stays visible to watchers. */
const TOMBSTONE_MS = 60_000
const ANSWER_LIMIT_MS = 2_000
const RETRY_MS = 200

const text = new TextDecoder()
const bytes = new TextEncoder()

export interface LeasesDeps extends BucketWatchDeps {
  /** The id of this process on the bus. */
  readonly id: string
}

/**
 * Leases as values of a bucket that expire one by one. Every write is a compare-and-set on the last sequence of its
 * key, so one of two writers gets the lease. The client's bucket functions have no compare-and-set with a time to live.
 */
export class NatsLeases implements Leases {
  readonly #deps: LeasesDeps
  readonly #held = new Map<string, HeldLease>()

  constructor(deps: LeasesDeps) {
    this.#deps = deps
  }

  async acquire(key: string, options: LeaseOptions): Promise<Lease | undefined> {
    const first = await this.#write(key, 0, options)
    if (first !== undefined) return first
    const { holder, revision } = await this.#last(key)
    // A lease of this process that is not registered: the acknowledgement of its write was lost.
    const isOurs = holder === this.#deps.id && !this.#held.has(key)
    if (holder !== undefined && !isOurs) return undefined
    return this.#write(key, revision, options)
  }

  take(
    key: string,
    deadHolderRevision: number,
    options: { ttlMs: number },
  ): Promise<Lease | undefined> {
    return this.#write(key, deadHolderRevision, options)
  }

  async holder(key: string): Promise<LeaseRecord | undefined> {
    const { holder, revision } = await this.#last(key)
    return holder === undefined ? undefined : { holder, revision }
  }

  async watch(pattern: string): Promise<LeaseView> {
    const holders = new Map<string, LeaseRecord>()
    const listeners = new ChangeEmitter()
    // A renewal changes nothing for readers.
    const callIfChanged = (before: string | undefined, now: string | undefined): void => {
      if (now !== before) listeners.call()
    }
    await watchBucket(this.#deps, LEASE_BUCKET, {
      what: 'leases',
      pattern,
      put: ({ key, value, revision }) => {
        const before = holders.get(key)?.holder
        const holder = text.decode(value)
        holders.set(key, { holder, revision })
        callIfChanged(before, holder)
      },
      end: (key) => {
        const before = holders.get(key)?.holder
        holders.delete(key)
        callIfChanged(before, undefined)
      },
    })
    return { holders, onChange: (listener) => listeners.add(listener) }
  }

  /** Called when the broker is away: other processes may take the leases over. */
  interrupted(): void {
    for (const lease of this.#held.values()) lease.doubt()
  }

  /** Called when the broker is back: renewals show which leases are left. */
  checkAll(): void {
    for (const lease of this.#held.values()) lease.check()
  }

  /** Stops the renewals, so that the leases expire. */
  close(): void {
    for (const lease of this.#held.values()) lease.abandon()
  }

  /** Writes a lease after a sequence of its key; `undefined` when the key has a later one. */
  async #write(
    key: string,
    after: number,
    { ttlMs, isFixed = false }: LeaseOptions,
  ): Promise<Lease | undefined> {
    const sentAt = performance.now()
    let revision: number
    try {
      revision = await this.#publish(key, after, ttlMs)
    } catch (error) {
      if (isFenced(error)) return undefined
      throw unavailable(error)
    }
    const lease = new HeldLease(
      { key, revision, ttlMs, isFixed, sentAt },
      {
        renew: (last) => this.#renew(key, last, ttlMs),
        end: (last) => this.#tombstone(key, last),
        ended: () => void this.#held.delete(key),
      },
    )
    this.#held.set(key, lease)
    return lease
  }

  /**
   * Renews a lease. Returns the new revision, or `undefined` when another process has the lease. Throws while the
   * outcome is unknown.
   */
  async #renew(key: string, last: number, ttlMs: number): Promise<number | undefined> {
    try {
      return await this.#publish(key, last, ttlMs)
    } catch (error) {
      if (!isFenced(error)) throw error
      const { holder, revision } = await this.#last(key)
      if (holder !== this.#deps.id) return undefined
      // The ack of a renewal was lost. Its lifetime began before this request, so the lease is renewed again.
      return this.#publish(key, revision, ttlMs)
    }
  }

  async #publish(key: string, after: number, ttlMs: number): Promise<number> {
    const { id, jetstream } = this.#deps
    const { seq } = await jetstream.publish(keySubject(LEASE_BUCKET, key), bytes.encode(id), {
      expect: { lastSubjectSequence: after },
      ttl: wholeSeconds(ttlMs),
      timeout: Math.min(ANSWER_LIMIT_MS, ttlMs / 3),
    })
    return seq
  }

  async #tombstone(key: string, last: number): Promise<void> {
    const deleted = headers()
    deleted.set('KV-Operation', 'DEL')
    await this.#deps.jetstream.publish(keySubject(LEASE_BUCKET, key), new Uint8Array(), {
      headers: deleted,
      expect: { lastSubjectSequence: last },
      ttl: wholeSeconds(TOMBSTONE_MS),
      timeout: ANSWER_LIMIT_MS,
    })
  }

  /** The record from the leader; without a holder when there is no lease. */
  async #last(key: string): Promise<{ holder: string | undefined; revision: number }> {
    const message = await lastOfKey(this.#deps.manager, LEASE_BUCKET, key).catch((error) => {
      throw unavailable(error)
    })
    if (message === null) return { holder: undefined, revision: 0 }
    const holder = isEndMark(message) ? undefined : text.decode(message.data)
    return { holder, revision: message.seq }
  }
}

interface LeaseOptions {
  readonly ttlMs: number
  /** Whether the lease is never renewed. */
  readonly isFixed?: boolean
}

interface HeldLeaseDeps {
  /** See `NatsLeases.#renew`. */
  readonly renew: (last: number) => Promise<number | undefined>
  readonly end: (last: number) => Promise<void>
  readonly ended: () => void
}

class HeldLease implements Lease {
  readonly key: string
  revision: number
  readonly #ttlMs: number
  readonly #isFixed: boolean
  readonly #deps: HeldLeaseDeps
  readonly #lost = new AbortController()
  /**
   * The end of the lease by `performance.now()`, counted from before the request, since the broker's time begins later.
   */
  #heldUntil: number
  #hasEnded = false
  /** Whether the broker was away and has not answered since. */
  #isDoubtful = false
  #renewal: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined

  constructor(
    lease: Required<LeaseOptions> & { key: string; revision: number; sentAt: number },
    deps: HeldLeaseDeps,
  ) {
    this.key = lease.key
    this.#ttlMs = lease.ttlMs
    this.#isFixed = lease.isFixed
    this.#deps = deps
    this.revision = lease.revision
    this.#heldUntil = lease.sentAt + lease.ttlMs
    this.#confirmed(lease.revision, lease.sentAt)
  }

  get isHeld(): boolean {
    return !this.#hasEnded && !this.#isDoubtful && performance.now() < this.#heldUntil
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  async release(): Promise<void> {
    if (this.#hasEnded) return
    this.#stop()
    // A renewal in flight may still raise the revision.
    await this.#renewal
    // A lease that cannot be released expires.
    await this.#deps.end(this.revision).catch(() => undefined)
    this.#deps.ended()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  abandon(): void {
    this.#stop()
    this.#deps.ended()
    this.#lost.abort(new BusError('unavailable', 'the bus is closed'))
  }

  doubt(): void {
    this.#isDoubtful = true
  }

  check(): void {
    this.#renewAfter(0)
  }

  #confirmed(revision: number, sentAt: number): void {
    // Of two concurrent renewals the later may be answered first.
    this.revision = Math.max(this.revision, revision)
    this.#heldUntil = Math.max(this.#heldUntil, sentAt + this.#ttlMs)
    // An answer cannot outlast its connection, so this one came after the outage.
    this.#isDoubtful = false
    clearTimeout(this.#expiry)
    const leftMs = this.#heldUntil - performance.now()
    this.#expiry = setTimeout(() => this.#lose('could not be renewed in time'), leftMs).unref()
    this.#renewAfter(sentAt + this.#ttlMs / 3 - performance.now())
  }

  #renewAfter(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isFixed) return
    this.#timer = setTimeout(() => {
      // A renewal from before an outage may still wait for its answer.
      this.#renewal = Promise.all([this.#renewal, this.#renew()])
    }, ms).unref()
  }

  async #renew(): Promise<void> {
    const sentAt = performance.now()
    try {
      const revision = await this.#deps.renew(this.revision)
      if (revision !== undefined) this.revision = Math.max(this.revision, revision)
      if (this.#hasEnded) return
      if (revision === undefined) this.#lose('was taken by another process')
      else this.#confirmed(revision, sentAt)
    } catch {
      // The broker is away; the expiry ends the lease.
      if (!this.#hasEnded) this.#renewAfter(RETRY_MS)
    }
  }

  #lose(how: string): void {
    this.#stop()
    this.#deps.ended()
    this.#lost.abort(new BusError('conflict', `the lease of ${this.key} ${how}`))
  }

  #stop(): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
    clearTimeout(this.#expiry)
  }
}

function unavailable(cause: unknown): BusError {
  return new BusError('unavailable', 'the leases cannot be reached; try again', { cause })
}

import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import { headers } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'
import { isEndMark, keySubject, lastOfKey, wholeSeconds } from './bucket-key.ts'
import type { Lease, LeaseRecord, Leases, LeaseView } from './bus.ts'
import { ChangeEmitter } from './change-emitter.ts'
import { isFenced } from './nats-error.ts'

export const LEASE_BUCKET = 'OWN'

/** The time for which an ended lease stays visible to watchers. */
const TOMBSTONE_MS = 60_000
/** A broker that is there answers long before. */
const ANSWER_LIMIT_MS = 2_000
const RETRY_MS = 200

const text = new TextDecoder()
const bytes = new TextEncoder()

export interface LeasesDeps {
  /** The id of this process on the bus. */
  readonly id: string
  readonly bucket: KV
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly warn: (error: unknown, action: string) => void
}

/**
 * Leases as values of a bucket that expire one by one. Every write is a compare-and-set on the key's last
 * sequence, so of two that want the same lease one gets it. Written past the bucket's own functions,
 * which know no compare-and-set with a time to live.
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
    const { holder, revision } = (await this.#last(key)) ?? { holder: undefined, revision: 0 }
    // An own lease that is not registered: its answer was lost.
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
    const { holder, revision } = (await this.#last(key)) ?? { holder: undefined, revision: 0 }
    return holder === undefined ? undefined : { holder, revision }
  }

  async watch(pattern: string): Promise<LeaseView> {
    const holders = new Map<string, LeaseRecord>()
    const listeners = new ChangeEmitter()
    const updates = await this.#deps.bucket.watch({ key: pattern })
    void (async () => {
      for await (const { key, operation, value, revision } of updates) {
        const before = holders.get(key)?.holder
        if (operation === 'PUT') holders.set(key, { holder: text.decode(value), revision })
        else holders.delete(key)
        // A renewal is no news.
        if (holders.get(key)?.holder !== before) listeners.call()
      }
    })().catch((error: unknown) => this.#deps.warn(error, 'watch leases'))
    return { holders, onChange: (listener) => listeners.add(listener) }
  }

  /** The broker is gone: other processes may take the leases over. */
  interrupted(): void {
    for (const lease of this.#held.values()) lease.doubt()
  }

  /** The broker is back: a renewal shows which leases are left. */
  checkAll(): void {
    for (const lease of this.#held.values()) lease.check()
  }

  /** The bus is closed: what is held ends when its time has passed. */
  close(): void {
    for (const lease of this.#held.values()) lease.abandon()
  }

  /** A lease that follows on a sequence of its key, or `undefined` when that was passed. */
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

  /** The new revision, or `undefined` when another process has the lease. Throws while that is unknown. */
  async #renew(key: string, last: number, ttlMs: number): Promise<number | undefined> {
    try {
      return await this.#publish(key, last, ttlMs)
    } catch (error) {
      if (!isFenced(error)) throw error
      const now = await this.#last(key)
      if (now?.holder !== this.#deps.id) return undefined
      // The own renewal, whose answer was lost: its time began before this request, so it is renewed again.
      return this.#publish(key, now.revision, ttlMs)
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

  /** The leader's record; without a holder when the lease ended. */
  async #last(key: string): Promise<{ holder: string | undefined; revision: number } | undefined> {
    let message
    try {
      message = await lastOfKey(this.#deps.manager, LEASE_BUCKET, key)
    } catch (error) {
      throw unavailable(error)
    }
    if (message === null) return undefined
    return {
      holder: isEndMark(message) ? undefined : text.decode(message.data),
      revision: message.seq,
    }
  }
}

interface LeaseOptions {
  readonly ttlMs: number
  /** Whether it is not renewed. */
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
  readonly #ttlMs: number
  readonly #isFixed: boolean
  readonly #deps: HeldLeaseDeps
  readonly #lost = new AbortController()
  #revision: number
  /** By `performance.now()`; counts from before the request, as the broker's time began later. */
  #heldUntil: number
  #hasEnded = false
  /** Since the broker was gone, until it has answered. */
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
    this.#revision = lease.revision
    this.#heldUntil = lease.sentAt + lease.ttlMs
    this.#confirmed(lease.revision, lease.sentAt)
  }

  get revision(): number {
    return this.#revision
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
    // It may yet raise the revision.
    await this.#renewal
    // Not told: then it ends when its time has passed.
    await this.#deps.end(this.#revision).catch(() => undefined)
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
    this.#revision = Math.max(this.#revision, revision)
    this.#heldUntil = Math.max(this.#heldUntil, sentAt + this.#ttlMs)
    // No answer outlasts its connection: this one came over the new.
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
      // One from before an outage may still wait for its answer.
      this.#renewal = Promise.all([this.#renewal, this.#renew()])
    }, ms).unref()
  }

  async #renew(): Promise<void> {
    const sentAt = performance.now()
    try {
      const revision = await this.#deps.renew(this.#revision)
      if (revision !== undefined) this.#revision = Math.max(this.#revision, revision)
      if (this.#hasEnded) return
      if (revision === undefined) this.#lose('was taken by another process')
      else this.#confirmed(revision, sentAt)
    } catch {
      // The broker is away: the expiry says when that matters.
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

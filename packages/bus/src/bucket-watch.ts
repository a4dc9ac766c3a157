import type { StoredMsg } from '@nats-io/jetstream'
import { RepublishHeaders } from '@nats-io/jetstream'
import type { MsgHdrs } from '@nats-io/transport-node'
import { headers as noHeaders } from '@nats-io/transport-node'
import { type Broker, subscribe } from './broker.ts'
import { changesSubject, isEndMark, keySubject, lastOfKey } from './bucket-key.ts'
import { directGet } from './direct-get.ts'
import type { ReplyInbox } from './reply-inbox.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

/** Messages of one read. */
const BATCH = 500
/** The limit for the size of one read, since the broker closes connections that do not accept 64 MiB. */
const MAX_READ_BYTES = 4 * 1024 * 1024
/**
 * The delay of the first check. The broker loses a repeated value when the leader of the stream dies, and a replica may
 * lag behind at the start.
 */
const LOOK_SOON_MS = 1_000
const LOOK_EVERY_MS = 15_000

export interface BucketWatchDeps extends Broker {
  readonly inbox: ReplyInbox
}

export interface BucketEntry {
  readonly key: string
  readonly value: Uint8Array
  readonly revision: number
}

export interface BucketWatchOptions {
  /** The content of the bucket, for the log. */
  readonly what: string
  /** The keys. Default: all. */
  readonly pattern?: string
  readonly put: (entry: BucketEntry) => void
  /** Called for a deleted or expired key. */
  readonly end: (key: string) => void
  /** Leaves out the keys that exist at the start. A change may be reported more than once. */
  readonly isOnlyNew?: boolean
}

/** Calls back with every key and its changes until the connection is closed; resolves after the present keys. */
export async function watchBucket(
  deps: BucketWatchDeps,
  bucket: string,
  options: BucketWatchOptions,
): Promise<void> {
  await new BucketWatcher(deps, bucket, options).start()
}

interface Change {
  readonly subject: string
  readonly seq: number
  readonly data: Uint8Array
  readonly header: MsgHdrs
}

/**
 * Follows a bucket without a consumer: the broker repeats each stored value, and reads find lost ones. A service with
 * the right to create consumers could have the broker publish to any subject, and a broker supports only 1,000
 * consumers.
 */
class BucketWatcher {
  readonly #deps: BucketWatchDeps
  readonly #bucket: string
  readonly #options: BucketWatchOptions
  readonly #pattern: string
  /** The revision of each present key. */
  readonly #present = new Map<string, number>()
  /** The revisions of keys that ended since the last check, which may still read an older revision. */
  readonly #ended = new Map<string, number>()
  /** The sequence through which no change was missed. */
  #checked = 0
  /**
   * Later sequences that arrived live. Used only when all keys are watched, since the sequences of other patterns have
   * gaps.
   */
  readonly #ahead = new Set<number>()
  #highest = 0
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(deps: BucketWatchDeps, bucket: string, options: BucketWatchOptions) {
    this.#deps = deps
    this.#bucket = bucket
    this.#options = options
    this.#pattern = options.pattern ?? '>'
  }

  async start(): Promise<void> {
    const { connection, warn } = this.#deps
    const { what, isOnlyNew = false } = this.#options
    const subject = changesSubject(this.#bucket, this.#pattern)
    subscribe(this.#deps, subject, `read ${what}`, ({ subject: live, data, headers }) => {
      const header = headers ?? noHeaders()
      const stored = header.last(RepublishHeaders.Subject)
      // The broker may also send a stored message here as a reply, which is no change.
      if (stored !== live.replace(/^kv\./, '$KV.')) return
      this.#onLive({
        subject: stored,
        seq: Number(header.last(RepublishHeaders.Sequence)),
        data,
        header,
      })
    })
    await this.#retry(async () => {
      if (isOnlyNew) this.#checked = await this.#last()
      else await this.#read()
    })
    this.#lookAfter(LOOK_SOON_MS)
    void this.#followConnection().catch((error: unknown) => warn(error, `watch ${what}`))
    void connection.closed().then(() => clearTimeout(this.#timer))
  }

  /** Called by the timer, after an outage, and when a change was missed. */
  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.#read()
    } catch (error) {
      if (!this.#deps.connection.isClosed()) this.#deps.warn(error, `watch ${this.#options.what}`)
    }
    this.#lookAfter(LOOK_EVERY_MS)
  }

  #lookAfter(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#deps.connection.isClosed()) return
    this.#timer = setTimeout(() => this.#lookOnce(), ms).unref()
  }

  #lookOnce(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  async #followConnection(): Promise<void> {
    for await (const { type } of this.#deps.connection.status()) {
      if (type !== 'reconnect') continue
      await this.#looking
      this.#looking = this.#recover().finally(() => {
        this.#looking = undefined
      })
    }
  }

  /**
   * Reads all keys again after an outage: marks of ended keys may have expired meanwhile, or the broker may have other
   * data.
   */
  async #recover(): Promise<void> {
    clearTimeout(this.#timer)
    const { isOnlyNew = false, what } = this.#options
    try {
      await this.#retry(async () => {
        const last = await this.#last()
        if (last < this.#highest) this.#reset(last)
        if (isOnlyNew) {
          await this.#read()
          return
        }
        const before = new Map(this.#present)
        this.#checked = 0
        const seen = await this.#read()
        for (const [key, revision] of before) {
          const isChanged = this.#present.has(key) && this.#present.get(key) !== revision
          if (!seen.has(key) && !isChanged) this.#end(key, revision)
        }
      })
    } catch (error) {
      if (!this.#deps.connection.isClosed()) this.#deps.warn(error, `watch ${what}`)
    }
    this.#lookAfter(LOOK_SOON_MS)
  }

  /** Called when the bucket has older data than this process has read. */
  #reset(last: number): void {
    this.#highest = last
    this.#checked = last
    this.#ended.clear()
    this.#ahead.clear()
    for (const key of this.#present.keys()) this.#present.set(key, 0)
  }

  /** Reads the changes since the last read. Returns their keys. */
  async #read(): Promise<Set<string>> {
    const seen = new Set<string>()
    for (let hasMore = true; hasMore;) {
      const messages = await directGet(this.#deps, `KV_${this.#bucket}`, {
        seq: this.#checked + 1,
        next_by_subj: keySubject(this.#bucket, this.#pattern),
        batch: BATCH,
        max_bytes: MAX_READ_BYTES,
      })
      for (const message of messages) seen.add(this.#onStored(message))
      hasMore = (messages.at(-1)?.pending ?? 0) > 0
    }
    this.#ended.clear()
    this.#skipAhead()
    return seen
  }

  #onStored({ subject, seq, data, header }: StoredMsg): string {
    this.#checked = Math.max(this.#checked, seq)
    return this.#apply({ subject, seq, data, header })
  }

  #onLive(change: Change): void {
    this.#apply(change)
    if (this.#pattern !== '>') return
    this.#ahead.add(change.seq)
    this.#skipAhead()
    // Without a timer, the initial read is still in progress.
    if (this.#ahead.size > 0 && this.#timer !== undefined) this.#lookOnce()
  }

  #skipAhead(): void {
    while (this.#ahead.delete(this.#checked + 1)) this.#checked++
    for (const seq of this.#ahead) if (seq <= this.#checked) this.#ahead.delete(seq)
  }

  #apply(change: Change): string {
    const { subject, seq, data: value } = change
    const key = subject.slice(keySubject(this.#bucket, '').length)
    this.#highest = Math.max(this.#highest, seq)
    const known = Math.max(this.#present.get(key) ?? 0, this.#ended.get(key) ?? 0)
    if (seq <= known) return key
    const { put, isOnlyNew = false, what } = this.#options
    if (isEndMark(change)) {
      this.#end(key, seq)
      return key
    }
    if (!isOnlyNew) this.#present.set(key, seq)
    try {
      put({ key, value, revision: seq })
    } catch (error) {
      // An entry that cannot be read, such as one of a later version, does not end the watch.
      this.#deps.warn(error, `read ${what}`)
    }
    return key
  }

  #end(key: string, revision: number): void {
    const isKnown = this.#present.delete(key)
    if (this.#options.isOnlyNew !== true) this.#ended.set(key, revision)
    if (isKnown || this.#options.isOnlyNew === true) this.#options.end(key)
  }

  /** The last sequence of the bucket, from the leader. */
  async #last(): Promise<number> {
    return (await lastOfKey(this.#deps.manager, this.#bucket, '>'))?.seq ?? 0
  }

  #retry<T>(act: () => Promise<T>): Promise<T> {
    const { connection } = this.#deps
    const message = `${this.#options.what}: cannot be read; try again`
    return retryWhileUnavailable(act, { connection, message })
  }
}

import { statfs } from 'node:fs/promises'
import { errors } from '@nats-io/transport-node'
import { BusError, LOG_PROBE } from '@mcp-host/contracts'
import type { Broker } from './broker.ts'
import type { DiskSpace, Storage, StreamSize } from './bus.ts'
import { isFull, isMissing, toBusError } from './nats-error.ts'
import { AUDIT_STREAM, BLOB_BUCKET, SESSIONS_STREAM, streamOf } from './streams.ts'

/** Writes that are unanswered for a shorter time may be due to the election of a cluster's leader. */
const FAULT_AFTER_MS = 3_000
/** The time after which the fault of an idle stream is dropped. Session logs are probed instead. */
const FORGOTTEN_AFTER_MS = 30_000
const PROBE_EVERY_MS = 2_000
const PROBE_TIMEOUT_MS = 2_000
/** The time for which a reading of the room is cached. */
const DISK_CACHE_MS = 1_000
const MEGABYTE = 1024 * 1024
/** The streams that grow with use. */
const GROWING = [SESSIONS_STREAM, `OBJ_${BLOB_BUCKET}`, AUDIT_STREAM]

/** The room for the broker's data: the disk of its folder, when that is on this machine, or its `max_file_store`. */
export type StoreRoom = ({ readonly path: string } | { readonly maxBytes: number }) & {
  /** New work is refused when less than this is free. */
  readonly minFreeBytes: number
}

export interface StorageHealthDeps extends Pick<Broker, 'jetstream' | 'manager'> {
  readonly store?: StoreRoom | undefined
  /** How many servers of the broker keep each message. */
  readonly replicas: number
  /** Whether this process may remove the probes that it has stored. If not, another process does it. */
  readonly canPurge: boolean
  /** Whether the broker answers at all. If not, unanswered writes tell nothing about its disk. */
  readonly isConnected: () => boolean
  readonly onFault: (fault: string | undefined) => void
}

interface Failure {
  readonly firstAt: number
  readonly lastAt: number
  /** The broker's error; undefined for unanswered writes. */
  readonly refusal: string | undefined
}

/**
 * Whether the broker stores writes, judged by all durable writes of this process. After one failed write to a full
 * disk, nats-server 2.15 leaves every later write to that stream unanswered until it is restarted, even when there is
 * room again. Reads still work.
 */
export class StorageHealth implements Storage, Disposable {
  readonly #deps: StorageHealthDeps
  /** Failures by stream. */
  readonly #failures = new Map<string, Failure>()
  #freeBytes = Infinity
  #sizeBytes = Infinity
  #diskReadAt = -Infinity
  #probe: NodeJS.Timeout | undefined
  #reported: string | undefined
  /** Writes that began before are no sign of a fault. */
  #resetAt = -Infinity

  constructor(deps: StorageHealthDeps) {
    this.#deps = deps
    const { jetstream } = deps
    const publish = jetstream.publish.bind(jetstream)
    // All durable writes use this function, also those of buckets and object stores.
    jetstream.publish = (subject, ...rest) => {
      const startedAt = performance.now()
      const stored = publish(subject, ...rest)
      stored.then(
        () => this.#onStored(streamOf(subject)),
        (error: unknown) => this.#onFailed(streamOf(subject), error, startedAt),
      )
      return stored
    }
  }

  fault(): string | undefined {
    const now = performance.now()
    for (const [stream, { firstAt, lastAt, refusal }] of this.#failures) {
      const isForgotten = stream !== SESSIONS_STREAM && now - lastAt > FORGOTTEN_AFTER_MS
      const isLong = refusal !== undefined || lastAt - firstAt >= FAULT_AFTER_MS
      if (isLong && !isForgotten) return this.#describe(stream, refusal)
    }
    return undefined
  }

  async checkRoom(): Promise<void> {
    const fault = this.fault()
    if (fault !== undefined) throw new BusError('unavailable', fault)
    const { store } = this.#deps
    if (store === undefined) return
    await this.#readRoom(store)
    if (this.#freeBytes >= store.minFreeBytes) return
    const message = `the host takes nothing new: ${this.#describeRoom(store)}; try again when there is room`
    throw new BusError('unavailable', message)
  }

  async disk(): Promise<DiskSpace | undefined> {
    const { store } = this.#deps
    if (store === undefined) return undefined
    await this.#readRoom(store)
    if (this.#freeBytes === Infinity) return undefined
    return { sizeBytes: this.#sizeBytes, roomBytes: this.#freeBytes - store.minFreeBytes }
  }

  async streams(): Promise<StreamSize[]> {
    const found = await Promise.all(GROWING.map((stream) => this.#sizeOf(stream)))
    return found.filter((each) => each !== undefined)
  }

  /** Drops all faults, since the broker was restarted or was unreachable. */
  reset(): void {
    this.#resetAt = performance.now()
    this.#failures.clear()
    this.#report()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#probe)
  }

  #onStored(stream: string): void {
    if (this.#failures.size > 0 && this.#failures.delete(stream)) this.#report()
  }

  #onFailed(stream: string, error: unknown, startedAt: number): void {
    const refusal = isFull(error) ? error.message : undefined
    const isUnanswered = error instanceof errors.TimeoutError && this.#deps.isConnected()
    if ((refusal === undefined && !isUnanswered) || startedAt < this.#resetAt) return
    const firstAt = this.#failures.get(stream)?.firstAt ?? startedAt
    this.#failures.set(stream, { firstAt, lastAt: performance.now(), refusal })
    if (this.#deps.store !== undefined) void this.#readRoom(this.#deps.store)
    if (stream === SESSIONS_STREAM) this.#probeSoon()
    this.#report()
  }

  /** Probes the session logs, which get no other writes while the storage counts as faulty. */
  #probeSoon(): void {
    clearTimeout(this.#probe)
    this.#probe = setTimeout(() => {
      if (this.#failures.has(SESSIONS_STREAM)) void this.#probeNow()
    }, PROBE_EVERY_MS).unref()
  }

  async #probeNow(): Promise<void> {
    const { jetstream, manager, canPurge } = this.#deps
    try {
      await jetstream.publish(LOG_PROBE, new Uint8Array(), { timeout: PROBE_TIMEOUT_MS })
      if (canPurge) await manager.streams.purge(SESSIONS_STREAM, { filter: LOG_PROBE, keep: 1 })
    } catch {
      // `#onFailed` has recorded the failure. If the probe was stored, the next one purges it.
      if (this.#deps.isConnected()) this.#probeSoon()
    }
  }

  async #readRoom(store: StoreRoom): Promise<void> {
    if (performance.now() - this.#diskReadAt < DISK_CACHE_MS) return
    this.#diskReadAt = performance.now()
    try {
      if ('path' in store) {
        const { bavail, blocks, bsize } = await statfs(store.path)
        this.#freeBytes = bavail * bsize
        this.#sizeBytes = blocks * bsize
      } else {
        // A cluster counts each copy.
        const { storage } = await this.#deps.manager.getAccountInfo()
        this.#sizeBytes = store.maxBytes
        this.#freeBytes = Math.max(0, store.maxBytes - storage / this.#deps.replicas)
      }
    } catch {
      // The folder is on another machine or does not exist yet, or the broker is away; failed writes show a full disk.
      this.#freeBytes = Infinity
    }
  }

  /** The size of a stream; `undefined` for one that this host does not have. */
  async #sizeOf(stream: string): Promise<StreamSize | undefined> {
    try {
      const { state } = await this.#deps.manager.streams.info(stream)
      return { stream, bytes: state.bytes }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw toBusError(error, 'broker')
    }
  }

  #report(): void {
    const fault = this.fault()
    if (fault === this.#reported) return
    this.#reported = fault
    this.#deps.onFault(fault)
  }

  #describe(stream: string, refusal: string | undefined): string {
    const { store } = this.#deps
    const isLow = store !== undefined && this.#freeBytes < store.minFreeBytes
    const cause = isLow
      ? this.#describeRoom(store)
      : refusal !== undefined
        ? `nats-server has no room: ${refusal}; raise its max_file_store or enlarge its disk`
        : `nats-server does not confirm what is written to its stream ${stream}; look at its disk and log`
    return `the host cannot store: ${cause}`
  }

  #describeRoom(store: StoreRoom): string {
    const megabytes = (bytes: number): number => Math.floor(bytes / MEGABYTE)
    const has =
      'path' in store
        ? `the disk at ${store.path} has ${megabytes(this.#freeBytes)} MB free`
        : `nats-server has ${megabytes(this.#freeBytes)} MB left of NATS_MAX_FILE_STORE (${megabytes(store.maxBytes)} MB)`
    return `${has}, at least ${megabytes(store.minFreeBytes)} MB are needed`
  }
}

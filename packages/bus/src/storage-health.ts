import { statfs } from 'node:fs/promises'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { BusError, LOG_PROBE } from '@mcp-host/contracts'
import type { Storage } from './bus.ts'
import { isFull } from './nats-error.ts'
import { SESSIONS_STREAM, streamOf } from './streams.ts'

/** A single write without an answer may be an election of a cluster: a fault lasts longer. */
const FAULT_AFTER_MS = 3_000
/** A fault of an idle stream is forgotten after this time; session logs are probed instead. */
const FORGOTTEN_AFTER_MS = 30_000
const PROBE_EVERY_MS = 2_000
const PROBE_TIMEOUT_MS = 2_000
/** How long a reading of the disk is cached. */
const LOOK_MS = 1_000
const MEGABYTE = 1024 * 1024

/** The broker's data folder, when it is on this machine. */
export interface StoreFolder {
  readonly path: string
  /** With less than this free, work is refused that has not begun. */
  readonly minFreeBytes: number
}

export interface StorageHealthDeps {
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly folder?: StoreFolder | undefined
  /** Whether the broker answers at all: else unanswered writes say nothing about its disk. */
  readonly isConnected: () => boolean
  readonly onFault: (fault: string | undefined) => void
}

interface Failure {
  readonly firstAt: number
  readonly lastAt: number
  /** The broker's error; after a full disk it does not answer writes at all. */
  readonly refusal: string | undefined
}

/**
 * Whether the broker stores what is written, judged by what becomes of all durable writes of this process.
 * After one failed write to a full disk nats-server 2.15 leaves every later write to that stream unanswered,
 * also when there is room again, until it is restarted; reads go on.
 */
export class StorageHealth implements Storage, Disposable {
  readonly #deps: StorageHealthDeps
  /** By stream. */
  readonly #failures = new Map<string, Failure>()
  #freeBytes = Infinity
  #lookedAt = -Infinity
  #probe: NodeJS.Timeout | undefined
  #told: string | undefined

  constructor(deps: StorageHealthDeps) {
    this.#deps = deps
    const { jetstream } = deps
    const publish = jetstream.publish.bind(jetstream)
    // All durable writes go through it, also those of buckets and object stores.
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
    const { folder } = this.#deps
    if (folder === undefined) return
    await this.#look(folder)
    if (this.#freeBytes >= folder.minFreeBytes) return
    const message = `the host takes nothing new: ${this.#describeDisk(folder)}; try again when there is room`
    throw new BusError('unavailable', message)
  }

  /** The broker is another process, or reachable again: what was true before says nothing. */
  reset(): void {
    this.#failures.clear()
    this.#tell()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#probe)
  }

  #onStored(stream: string): void {
    if (this.#failures.size > 0 && this.#failures.delete(stream)) this.#tell()
  }

  #onFailed(stream: string, error: unknown, startedAt: number): void {
    const refusal = isFull(error) ? error.message : undefined
    const isUnanswered = error instanceof errors.TimeoutError && this.#deps.isConnected()
    if (refusal === undefined && !isUnanswered) return
    const firstAt = this.#failures.get(stream)?.firstAt ?? startedAt
    this.#failures.set(stream, { firstAt, lastAt: performance.now(), refusal })
    if (this.#deps.folder !== undefined) void this.#look(this.#deps.folder)
    if (stream === SESSIONS_STREAM) this.#probeSoon()
    this.#tell()
  }

  /** Session logs get no writes while storage is reported as faulty, so a probe must find its recovery. */
  #probeSoon(): void {
    clearTimeout(this.#probe)
    this.#probe = setTimeout(() => {
      if (this.#failures.has(SESSIONS_STREAM)) void this.#probeNow()
    }, PROBE_EVERY_MS).unref()
  }

  async #probeNow(): Promise<void> {
    const { jetstream, manager } = this.#deps
    try {
      await jetstream.publish(LOG_PROBE, new Uint8Array(), { timeout: PROBE_TIMEOUT_MS })
      await manager.streams.purge(SESSIONS_STREAM, { filter: LOG_PROBE, keep: 1 })
    } catch {
      // Noted where it was written; probes that stay are purged by the next.
      if (this.#deps.isConnected()) this.#probeSoon()
    }
  }

  async #look({ path }: StoreFolder): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = performance.now()
    try {
      const { bavail, bsize } = await statfs(path)
      this.#freeBytes = bavail * bsize
    } catch {
      // The folder is of another machine or not there yet: failed writes tell.
      this.#freeBytes = Infinity
    }
  }

  #tell(): void {
    const fault = this.fault()
    if (fault === this.#told) return
    this.#told = fault
    this.#deps.onFault(fault)
  }

  #describe(stream: string, refusal: string | undefined): string {
    const { folder } = this.#deps
    const isLow = folder !== undefined && this.#freeBytes < folder.minFreeBytes
    const cause = isLow
      ? this.#describeDisk(folder)
      : refusal !== undefined
        ? `nats-server has no room: ${refusal}`
        : `nats-server does not confirm what is written to its stream ${stream}; look at its disk and log`
    return `the host cannot store: ${cause}`
  }

  #describeDisk({ path, minFreeBytes }: StoreFolder): string {
    const megabytes = (bytes: number): number => Math.floor(bytes / MEGABYTE)
    return `the disk at ${path} has ${megabytes(this.#freeBytes)} MB free, at least ${megabytes(minFreeBytes)} MB are needed`
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

import type { JsonSchema } from '../inventory/tool.ts'
import type { Faults } from './schema-checker.ts'

/** The time limit for the check of one value. */
const CHECK_LIMIT_MS = 2000
/** The time limit for compiling a schema. It is longer, since a schema that exceeds it is not applied at all. */
const COMPILE_LIMIT_MS = 5000
/** The time limit for the start of a thread, which only a machine without memory exceeds. */
const START_LIMIT_MS = 30_000
/** Limit for the threads. A server uses at most one, so others wait only when two servers are hostile. */
const MAX_THREADS = 2
/** Limit for the waiting checks of one server; more are refused. */
const MAX_WAITING = 32
/** After a check that failed, mostly by its time limit, the checks of its server wait this many times as long as it took. */
const REST_FACTOR = 3
const MAX_REST_MS = 5_000
/** Checks that have waited so long are refused, since their callers have left. */
const WAIT_LIMIT_MS = 60_000
/** An idle thread ends after this time, since it takes about 30 MB. */
const IDLE_LIMIT_MS = 30_000
/** The memory limit of a thread. A thread that exceeds it is ended, and its check refused. */
const MEMORY_LIMIT_MB = 128

export interface ThreadJob {
  /** The same for equal schemas. */
  readonly schemaId: number
  readonly schema: JsonSchema
  readonly value: unknown
}

export type ThreadNotice =
  | { readonly kind: 'ready' }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'checked'; readonly faults: Faults }

export interface Unchecked {
  readonly kind: 'unchecked'
  readonly reason: string
  /** The phase that the job reached. A schema that cannot be compiled in time is unusable for all values. */
  readonly phase: 'starting' | 'compiling' | 'checking'
}

interface ThreadLimits {
  readonly compileLimitMs: number
  readonly checkLimitMs: number
  readonly memoryLimitMb: number
  readonly waitLimitMs: number
}

interface Waiting extends ThreadJob {
  readonly owner: object
  readonly since: number
  readonly done: (outcome: Faults | Unchecked) => void
}

/**
 * Does expensive checks in threads with limits for time and memory. A thread that exceeds one is ended and replaced.
 * Checks of one owner are done one after another.
 */
export class SchemaThreads {
  readonly #waiting: Waiting[] = []
  readonly #busyOwners = new Set<object>()
  readonly #restingOwners = new Set<object>()
  readonly #ids = new WeakMap<JsonSchema, number>()
  readonly #idle: SchemaThread[] = []
  readonly #limits: ThreadLimits
  #nextId = 1

  constructor({
    compileLimitMs = COMPILE_LIMIT_MS,
    checkLimitMs = CHECK_LIMIT_MS,
    memoryLimitMb = MEMORY_LIMIT_MB,
    waitLimitMs = WAIT_LIMIT_MS,
  }: Partial<ThreadLimits> = {}) {
    this.#limits = { compileLimitMs, checkLimitMs, memoryLimitMb, waitLimitMs }
  }

  check(owner: object, schema: JsonSchema, value: unknown): Promise<Faults | Unchecked> {
    if (this.#waiting.filter((job) => job.owner === owner).length >= MAX_WAITING) {
      const reason = `${MAX_WAITING} checks of this server wait already; try again later`
      return Promise.resolve({ kind: 'unchecked', reason, phase: 'checking' })
    }
    const schemaId = this.#ids.get(schema) ?? this.#nextId++
    this.#ids.set(schema, schemaId)
    return new Promise((done) => {
      this.#waiting.push({ owner, since: performance.now(), schemaId, schema, value, done })
      this.#next()
    })
  }

  #next(): void {
    this.#refuseOld()
    if (this.#busyOwners.size >= MAX_THREADS) return
    const canRun = ({ owner }: Waiting): boolean =>
      !this.#busyOwners.has(owner) && !this.#restingOwners.has(owner)
    const index = this.#waiting.findIndex(canRun)
    const [job] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (job === undefined) return
    this.#busyOwners.add(job.owner)
    const startedAt = performance.now()
    void this.#run(job).then((outcome) => {
      this.#busyOwners.delete(job.owner)
      // A thread that cannot start is no fault of the server.
      if (outcome.kind === 'unchecked' && outcome.phase !== 'starting') {
        void this.#rest(job.owner, performance.now() - startedAt)
      }
      job.done(outcome)
      this.#next()
    })
  }

  /** The oldest is the first. */
  #refuseOld(): void {
    const limit = performance.now() - this.#limits.waitLimitMs
    while (this.#waiting[0] !== undefined && this.#waiting[0].since < limit) {
      const reason = 'earlier checks of this server take too long; try again later'
      this.#waiting.shift()?.done({ kind: 'unchecked', reason, phase: 'checking' })
    }
  }

  async #rest(owner: object, tookMs: number): Promise<void> {
    this.#restingOwners.add(owner)
    await delay(Math.min(MAX_REST_MS, REST_FACTOR * tookMs), undefined, { ref: false })
    this.#restingOwners.delete(owner)
    this.#next()
  }

  async #run({ schemaId, schema, value }: Waiting): Promise<Faults | Unchecked> {
    const thread =
      this.#idle.pop() ?? new SchemaThread(this.#limits, (ended) => this.#forget(ended))
    const outcome = await thread.run({ schemaId, schema, value })
    if (thread.isAlive) this.#idle.push(thread)
    return outcome
  }

  #forget(thread: SchemaThread): void {
    const index = this.#idle.indexOf(thread)
    if (index >= 0) this.#idle.splice(index, 1)
  }
}

/** One thread. It is ended when its job takes too long. */
class SchemaThread {
  isAlive = true
  readonly #worker: Worker
  readonly #limits: ThreadLimits
  readonly #onEnd: (thread: SchemaThread) => void
  #phase: Unchecked['phase'] = 'starting'
  #done: ((outcome: Faults | Unchecked) => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(limits: ThreadLimits, onEnd: (thread: SchemaThread) => void) {
    this.#limits = limits
    this.#onEnd = onEnd
    // The sources run uncompiled, the published package is compiled. A bundler must emit this program beside its output.
    const program = import.meta.url.endsWith('.ts') ? './schema-thread.ts' : './schema-thread.js'
    this.#worker = new Worker(new URL(program, import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryLimitMb },
    })
    this.#worker.on('message', (notice: ThreadNotice) => this.#receive(notice))
    this.#worker.on('error', ({ message }) => this.#end(message))
    this.#worker.on('exit', () => this.#end('its thread has ended'))
  }

  run(job: ThreadJob): Promise<Faults | Unchecked> {
    return new Promise((done) => {
      this.#done = done
      this.#worker.ref()
      this.#enter(this.#phase === 'starting' ? 'starting' : 'compiling')
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the target is a thread, not a window
        this.#worker.postMessage(job)
      } catch (error) {
        // The value contains a function or the like, which cannot be sent to a server either.
        this.#end(error instanceof Error ? error.message : String(error))
      }
    })
  }

  #receive(notice: ThreadNotice): void {
    if (notice.kind === 'checked') return this.#finish(notice.faults)
    this.#enter(notice.kind === 'ready' ? 'compiling' : 'checking')
  }

  #enter(phase: Unchecked['phase']): void {
    this.#phase = phase
    const { compileLimitMs: compiling, checkLimitMs: checking } = this.#limits
    const limitMs = { starting: START_LIMIT_MS, compiling, checking }[phase]
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(`it takes more than ${limitMs} ms`), limitMs)
  }

  #finish(outcome: Faults | Unchecked): void {
    clearTimeout(this.#timer)
    // An idle thread must not keep the process alive.
    this.#worker.unref()
    this.#timer = setTimeout(() => this.#end('it has nothing to do'), IDLE_LIMIT_MS).unref()
    const done = this.#done
    this.#done = undefined
    done?.(outcome)
  }

  #end(reason: string): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.#onEnd(this)
    this.#finish({ kind: 'unchecked', reason, phase: this.#phase })
    clearTimeout(this.#timer)
    void this.#worker.terminate()
  }
}

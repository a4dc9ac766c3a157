import { Worker } from 'node:worker_threads'

import type { JsonSchema } from '../inventory/tool.ts'
import type { Faults } from './schema-checker.ts'

/** The time limit for the check of one value, in milliseconds. */
const CHECK_LIMIT_MS = 2000
/** The time limit for compiling a schema. Longer, since a schema over it is not applied at all. */
const COMPILE_LIMIT_MS = 5000
/** The time limit for the start of a thread, in milliseconds: reached only on a machine without memory. */
const START_LIMIT_MS = 30_000
/** One server takes one of them at most, so that two must be hostile before a third has to wait. */
const MAX_THREADS = 2
/** Checks of one server that wait; more are refused at once. */
const MAX_WAITING = 32
/** A thread takes about 30 MB: one that has had nothing to do for so long is ended. */
const IDLE_LIMIT_MS = 30_000
/** A thread that needs more is ended, and the check refused; in megabytes. */
const MEMORY_LIMIT_MB = 128

/** The job of a thread. */
export interface ThreadJob {
  /** Equal for equal schemas. */
  readonly schemaId: number
  readonly schema: JsonSchema
  readonly value: unknown
}

/** A message of a thread. */
export type ThreadNotice =
  | { readonly kind: 'ready' }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'checked'; readonly faults: Faults }

export interface Unchecked {
  readonly kind: 'unchecked'
  readonly reason: string
  /** The phase that it reached: a schema that cannot be compiled in time is useless for other values, too. */
  readonly phase: 'starting' | 'compiling' | 'checking'
}

interface ThreadLimits {
  readonly compileLimitMs: number
  readonly checkLimitMs: number
  readonly memoryLimitMb: number
}

interface Waiting extends ThreadJob {
  readonly owner: object
  readonly done: (outcome: Faults | Unchecked) => void
}

/**
 * Compiles schemas and checks values that may take long, in threads with a limit of time and memory: a thread that
 * exceeds it is ended and replaced. Checks of one owner are made one after another.
 */
export class SchemaThreads {
  readonly #waiting: Waiting[] = []
  readonly #busyOwners = new Set<object>()
  readonly #ids = new WeakMap<JsonSchema, number>()
  readonly #idle: SchemaThread[] = []
  readonly #limits: ThreadLimits
  #nextId = 1

  constructor({
    compileLimitMs = COMPILE_LIMIT_MS,
    checkLimitMs = CHECK_LIMIT_MS,
    memoryLimitMb = MEMORY_LIMIT_MB,
  }: Partial<ThreadLimits> = {}) {
    this.#limits = { compileLimitMs, checkLimitMs, memoryLimitMb }
  }

  check(owner: object, schema: JsonSchema, value: unknown): Promise<Faults | Unchecked> {
    if (this.#waiting.filter((job) => job.owner === owner).length >= MAX_WAITING) {
      const reason = `${MAX_WAITING} checks of this server wait already; try again later`
      return Promise.resolve({ kind: 'unchecked', reason, phase: 'checking' })
    }
    const schemaId = this.#ids.get(schema) ?? this.#nextId++
    this.#ids.set(schema, schemaId)
    return new Promise((done) => {
      this.#waiting.push({ owner, schemaId, schema, value, done })
      this.#next()
    })
  }

  #next(): void {
    if (this.#busyOwners.size >= MAX_THREADS) return
    const index = this.#waiting.findIndex(({ owner }) => !this.#busyOwners.has(owner))
    const [job] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (job === undefined) return
    this.#busyOwners.add(job.owner)
    void this.#run(job).then((outcome) => {
      this.#busyOwners.delete(job.owner)
      job.done(outcome)
      this.#next()
    })
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

/** One thread, which is ended by a job that takes too long. */
class SchemaThread {
  readonly #worker: Worker
  readonly #limits: ThreadLimits
  readonly #onEnd: (thread: SchemaThread) => void
  #isAlive = true
  #phase: Unchecked['phase'] = 'starting'
  #done: ((outcome: Faults | Unchecked) => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(limits: ThreadLimits, onEnd: (thread: SchemaThread) => void) {
    this.#limits = limits
    this.#onEnd = onEnd
    // Sources are run as they are, the published package is compiled. A bundler has to put this program beside its own.
    const program = import.meta.url.endsWith('.ts') ? './schema-thread.ts' : './schema-thread.js'
    this.#worker = new Worker(new URL(program, import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryLimitMb },
    })
    this.#worker.on('message', (notice: ThreadNotice) => this.#told(notice))
    this.#worker.on('error', ({ message }) => this.#end(message))
    this.#worker.on('exit', () => this.#end('its thread has ended'))
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  run(job: ThreadJob): Promise<Faults | Unchecked> {
    return new Promise((done) => {
      this.#done = done
      this.#worker.ref()
      this.#enter(this.#phase === 'starting' ? 'starting' : 'compiling')
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- it goes to a thread, not to a window
        this.#worker.postMessage(job)
      } catch (error) {
        // A function or the like stands in it, which no server can be sent.
        this.#end(error instanceof Error ? error.message : String(error))
      }
    })
  }

  #told(notice: ThreadNotice): void {
    if (notice.kind === 'checked') return this.#answer(notice.faults)
    this.#enter(notice.kind === 'ready' ? 'compiling' : 'checking')
  }

  #enter(phase: Unchecked['phase']): void {
    this.#phase = phase
    const { compileLimitMs, checkLimitMs } = this.#limits
    const limitMs = { starting: START_LIMIT_MS, compiling: compileLimitMs, checking: checkLimitMs }[
      phase
    ]
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(`it takes more than ${limitMs} ms`), limitMs)
  }

  #answer(outcome: Faults | Unchecked): void {
    clearTimeout(this.#timer)
    // One that waits for work must not keep the process.
    this.#worker.unref()
    this.#timer = setTimeout(() => this.#end('it has nothing to do'), IDLE_LIMIT_MS).unref()
    const done = this.#done
    this.#done = undefined
    done?.(outcome)
  }

  #end(reason: string): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.#onEnd(this)
    this.#answer({ kind: 'unchecked', reason, phase: this.#phase })
    clearTimeout(this.#timer)
    void this.#worker.terminate()
  }
}

import { BusError } from '@mcp-host/contracts'
import type { ArgumentOptions } from './argument-view.ts'
import { argumentViewer } from './argument-view.ts'
import type { AuditLog, AuditRecord, CheckpointDetail } from './audit-entry.ts'
import { CHECKPOINT } from './audit-entry.ts'
import { Chain } from './chain.ts'

/** Keeps entries. */
export interface AuditStore {
  /** Appends entries in one piece. When it rejects, the same entries are appended again, and must be stored once. */
  append(writer: string, entries: readonly string[]): Promise<void>
}

export interface AuditWriterDeps {
  readonly store: AuditStore
  readonly onStored: (entries: number) => void
  readonly onDropped: () => void
  /** Called once when entries cannot be stored, and with `undefined` once they can again. */
  readonly onFault: (error: unknown) => void
  readonly onCheckpoint: (end: CheckpointDetail) => void
}

export interface AuditWriterOptions {
  /** Id of this process on the bus. */
  readonly writer: string
  /** `async`: entries are stored in the background. `required`: an action waits until its entry is stored. */
  readonly mode: 'async' | 'required'
  readonly arguments: ArgumentOptions
}

/** Limits of a writer. */
const LIMITS = {
  /** How long entries are gathered in `async` mode: each append costs far more than an entry in it. */
  gatherMs: 50,
  /** Entries that wait; more are dropped. */
  queued: 10_000,
  queuedLength: 64 * 1024 * 1024,
  /** Of one append: a message of the broker has 1 MiB at most. In UTF-16 units, of up to three bytes. */
  appendLength: 256 * 1024,
  retryMs: 200,
  /** How long an action waits for its entry in `required` mode: longer than a broker that was stopped for some seconds. */
  requiredMs: 15_000,
  checkpointMs: 60_000,
  /** For the last entries, when the process ends. */
  closeMs: 2_000,
}

interface RenderOptions {
  readonly onStored?: (() => void) | undefined
  /** Default: those of the record. */
  readonly args?: unknown
}

interface Rendered {
  readonly entry: string
  readonly time: number
  /** Called once the entry is stored. */
  readonly onStored: (() => void) | undefined
}

/** Writes the entries of this process, in one chain. */
export class AuditWriter implements AuditLog, AsyncDisposable {
  readonly #deps: AuditWriterDeps
  readonly #writer: string
  readonly #isRequired: boolean
  readonly #limits: typeof LIMITS
  readonly #chain: Chain
  /** Starts of the last few milliseconds, with their times: the entry of the end may tell of them. */
  readonly #starts = new Map<AuditRecord, number>()
  /** Entries of the chain that are not stored, the oldest first. */
  #rendered: Rendered[] = []
  /** How many of them are old enough to be stored. */
  #gathered = 0
  #renderedLength = 0
  /** Not yet told in an entry. */
  #dropped = 0
  #signedOff = 0
  #isFaulty = false
  #isGathering = false
  #storing: Promise<void> | undefined
  readonly #closed = new AbortController()
  readonly #checkpoints: NodeJS.Timeout

  constructor(
    deps: AuditWriterDeps,
    { writer, mode, arguments: args }: AuditWriterOptions,
    limits: Partial<typeof LIMITS> = {},
  ) {
    this.#deps = deps
    this.#writer = writer
    this.#isRequired = mode === 'required'
    this.#limits = { ...LIMITS, ...limits }
    this.#chain = new Chain(writer, argumentViewer(args))
    this.#checkpoints = setInterval(() => this.#checkpoint(), this.#limits.checkpointMs).unref()
  }

  /** The age of the oldest entry that is not stored; 0 when all are. */
  get lagMs(): number {
    const [start = Infinity] = this.#starts.values()
    const oldest = Math.min(start, this.#rendered[0]?.time ?? Infinity)
    return oldest === Infinity ? 0 : Date.now() - oldest
  }

  record(record: AuditRecord): Promise<void> | undefined {
    const { queued, queuedLength } = this.#limits
    const isFull =
      this.#starts.size + this.#rendered.length >= queued || this.#renderedLength > queuedLength
    if (isFull || this.#closed.signal.aborted) {
      this.#dropped++
      this.#deps.onDropped()
      return this.#isRequired ? Promise.reject(unavailable()) : undefined
    }
    if (!this.#isRequired) {
      this.#queue(record)
      return undefined
    }
    const stored = Promise.withResolvers<void>()
    const late = setTimeout(() => stored.reject(unavailable()), this.#limits.requiredMs)
    this.#queue(record, () => {
      clearTimeout(late)
      stored.resolve()
    })
    return stored.promise
  }

  /** Signs off what was recorded, and waits a moment until it is stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checkpoints)
    this.#checkpoint()
    this.#gather()
    await Promise.race([this.#storing, pause(this.#limits.closeMs)])
    this.#closed.abort()
  }

  #queue(record: AuditRecord, onStored?: () => void): void {
    const { start } = record
    const time = Date.now()
    if (record.action === 'tool-started' && !this.#isRequired) this.#starts.set(record, time)
    else if (start === undefined || !this.#starts.delete(start))
      this.#render(record, time, { onStored })
    else this.#render(record, time, { onStored, args: start.arguments })
    if (this.#isGathering) return
    this.#isGathering = true
    if (this.#isRequired) setImmediate(() => this.#gather())
    else setTimeout(() => this.#gather(), this.#limits.gatherMs)
  }

  #checkpoint(): void {
    this.#renderStarts()
    const end = this.#chain.end
    if (end.count === this.#signedOff) return
    this.#queue({ action: CHECKPOINT, principal: 'system', entrance: 'system' })
    this.#signedOff = end.count + 1
    this.#deps.onCheckpoint(end)
  }

  /** At once: objects that wait would cost the garbage collector more than this. */
  #render(
    record: AuditRecord,
    time: number,
    { onStored, args = record.arguments }: RenderOptions = {},
  ): void {
    const entry = this.#chain.add(record, time, { args, dropped: this.#dropped })
    this.#dropped = 0
    this.#rendered.push({ entry, time, onStored })
    this.#renderedLength += entry.length
  }

  #renderStarts(): void {
    for (const [start, time] of this.#starts) this.#render(start, time)
    this.#starts.clear()
  }

  #gather(): void {
    this.#isGathering = false
    this.#renderStarts()
    this.#gathered = this.#rendered.length
    if (this.#gathered > 0) this.#storing ??= this.#storeAll()
  }

  async #storeAll(): Promise<void> {
    while (this.#gathered > 0) {
      const entries = this.#nextEntries()
      if (!(await this.#store(entries))) break
      this.#gathered -= entries.length
      for (const { entry, onStored } of this.#rendered.splice(0, entries.length)) {
        this.#renderedLength -= entry.length
        onStored?.()
      }
      this.#deps.onStored(entries.length)
    }
    this.#storing = undefined
  }

  /** As many of the oldest entries as fit into one append. */
  #nextEntries(): string[] {
    const entries: string[] = []
    let length = 0
    for (const { entry } of this.#rendered.slice(0, this.#gathered)) {
      length += entry.length
      if (entries.length > 0 && length > this.#limits.appendLength) break
      entries.push(entry)
    }
    return entries
  }

  /** Tries until the entries are stored; `false`: the writer was closed before. */
  async #store(entries: readonly string[]): Promise<boolean> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        await this.#deps.store.append(this.#writer, entries)
        this.#tell(undefined)
        return true
      } catch (error) {
        this.#tell(error)
        await pause(this.#limits.retryMs)
      }
    }
    return false
  }

  #tell(fault: unknown): void {
    const isFaulty = fault !== undefined
    if (isFaulty === this.#isFaulty) return
    this.#isFaulty = isFaulty
    this.#deps.onFault(fault)
  }
}

/** Does not keep the process. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

function unavailable(): BusError {
  return new BusError('unavailable', 'the audit log cannot be written; try again')
}

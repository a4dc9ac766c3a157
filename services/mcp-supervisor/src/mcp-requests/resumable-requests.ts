import type { Bus } from '@mcp-host/bus'
import type { McpRequestHead, ResumeHead } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { SendPart } from './client-questions.ts'
import { ResumableRequest } from './resumable-request.ts'
import type { McpReply } from './forward-request.ts'

export interface ResumableRequestsDeps {
  readonly bus: Pick<Bus, 'id' | 'blobs'>
}

/** Limits of resumable requests. */
const LIMITS = {
  /** A request that is answered sooner, and says nothing before, is not kept. */
  afterMs: 250,
  /** From its answer on. */
  keepMs: 60_000,
  /** Replies of one request before its result. */
  requestBytes: 1024 * 1024,
  /** All resumable requests together; over it the oldest results are evicted. */
  bytes: 64 * 1024 * 1024,
  /** Their results in the object store together. */
  storedBytes: 256 * 1024 * 1024,
}

/** The requests of this supervisor that their callers may take up again, at whichever gateway they come back. */
export class ResumableRequests implements Disposable {
  readonly #bus: Pick<Bus, 'id' | 'blobs'>
  readonly #limits: typeof LIMITS
  readonly #requests = new Map<string, ResumableRequest>()
  /** Requests with results, the oldest first. */
  readonly #answered = new Map<ResumableRequest, NodeJS.Timeout>()
  #bytes = 0
  #storedBytes = 0

  constructor({ bus }: ResumableRequestsDeps, limits: Partial<typeof LIMITS> = {}) {
    this.#bus = bus
    this.#limits = { ...LIMITS, ...limits }
  }

  get size(): number {
    return this.#requests.size
  }

  /** Runs a request, and keeps its replies once they may be missed. */
  run(
    { id, client, isResumable }: McpRequestHead,
    tell: SendPart,
    begin: (tell: SendPart) => Promise<McpReply>,
  ): Promise<McpReply> {
    if (isResumable !== true || client === undefined) return begin(tell)
    const answered = Promise.withResolvers<McpReply>()
    let kept: ResumableRequest | undefined
    const keep = (): ResumableRequest => {
      kept ??= this.#keep(new ResumableRequest(id, client.id, { tell, answered }), tell)
      return kept
    }
    const late = setTimeout(keep, this.#limits.afterMs)
    const settle = (end: (kept: ResumableRequest) => void, answer: () => void): void => {
      clearTimeout(late)
      if (kept === undefined) answer()
      else this.#end(kept, end)
    }
    begin((head, body) => {
      if (kept === undefined && head.type === 'running') return tell(head, body)
      this.#change(keep(), (to) => to.tell(head, body))
    }).then(
      (answer) =>
        settle(
          (to) => to.end(answer),
          () => answered.resolve(answer),
        ),
      (error: unknown) =>
        settle(
          (to) => to.fail(error),
          () => answered.reject(error),
        ),
    )
    return answered.promise
  }

  /** Sends the replies that a caller has missed, and the rest. Throws `not-found`. */
  resume({ id, client, after }: ResumeHead, tell: SendPart): Promise<McpReply> {
    const kept = this.#requests.get(id)
    if (kept?.client === client) return kept.resume(after, tell)
    throw new BusError('not-found', 'the request is not kept, or not any more')
  }

  [Symbol.dispose](): void {
    for (const kept of this.#answered.keys()) this.#drop(kept)
  }

  #keep(kept: ResumableRequest, tell: SendPart): ResumableRequest {
    // A gateway may have come again with one that failed here.
    const before = this.#requests.get(kept.id)
    if (before !== undefined) this.#drop(before)
    this.#requests.set(kept.id, kept)
    this.#bytes += kept.bytes
    tell({ type: 'kept', supervisor: this.#bus.id }, '')
    return kept
  }

  #end(kept: ResumableRequest, end: (kept: ResumableRequest) => void): void {
    this.#change(kept, end)
    if (this.#requests.get(kept.id) !== kept) return
    this.#storedBytes += kept.stored?.bytes ?? 0
    this.#makeRoom()
    const over = setTimeout(() => this.#drop(kept), this.#limits.keepMs).unref()
    this.#answered.set(kept, over)
  }

  #change(kept: ResumableRequest, change: (kept: ResumableRequest) => void): void {
    const before = kept.bytes
    change(kept)
    if (this.#requests.get(kept.id) !== kept) return
    this.#bytes += kept.bytes - before
    this.#makeRoom()
    while (this.#isFull || kept.bytes > this.#limits.requestBytes) {
      const size = kept.bytes
      if (!kept.forget()) break
      this.#bytes -= size - kept.bytes
    }
  }

  get #isFull(): boolean {
    return this.#bytes > this.#limits.bytes || this.#storedBytes > this.#limits.storedBytes
  }

  #makeRoom(): void {
    for (const oldest of this.#answered.keys()) {
      if (!this.#isFull) return
      this.#drop(oldest)
    }
  }

  #drop(kept: ResumableRequest): void {
    clearTimeout(this.#answered.get(kept))
    this.#answered.delete(kept)
    this.#requests.delete(kept.id)
    this.#bytes -= kept.bytes
    if (kept.stored === undefined) return
    this.#storedBytes -= kept.stored.bytes
    // Objects that are not removed expire.
    this.#bus.blobs.remove(kept.stored.key).catch(() => undefined)
  }
}

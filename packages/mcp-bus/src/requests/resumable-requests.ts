import type { Bus } from '@mcp-host/bus'
import type { McpRequestHead, ResumeHead } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { SendPart } from './client-questions.ts'
import { ResumableRequest } from './resumable-request.ts'
import type { McpReply } from './serve-request.ts'

export interface ResumableRequestsDeps {
  readonly bus: Pick<Bus, 'id' | 'blobs'>
}

/** Limits of resumable requests. */
const LIMITS = {
  /** Requests without earlier replies that are answered sooner are not kept. */
  afterMs: 250,
  /** The time from the answer on. */
  keepMs: 60_000,
  /** The limit for the replies of one request before its result. */
  requestBytes: 1024 * 1024,
  /** The limit for all resumable requests together. Above it, the oldest results are evicted. */
  bytes: 64 * 1024 * 1024,
  /** The limit for all results in the object store. */
  storedBytes: 256 * 1024 * 1024,
}

/** The requests of this supervisor that their callers can resume at any gateway. */
export class ResumableRequests implements Disposable {
  readonly #bus: Pick<Bus, 'id' | 'blobs'>
  readonly #limits: typeof LIMITS
  readonly #requests = new Map<string, ResumableRequest>()
  /** Requests with results, oldest first. */
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

  /** Runs a request, and keeps its replies once the caller may miss them. */
  run(
    { id, client, isResumable }: McpRequestHead,
    send: SendPart,
    begin: (send: SendPart) => Promise<McpReply>,
  ): Promise<McpReply> {
    if (isResumable !== true || client === undefined) return begin(send)
    const answered = Promise.withResolvers<McpReply>()
    let resumable: ResumableRequest | undefined
    const keep = (): ResumableRequest => {
      resumable ??= this.#keep(new ResumableRequest(id, client.id, { send, answered }), send)
      return resumable
    }
    const late = setTimeout(keep, this.#limits.afterMs)
    const settle = (end: (resumable: ResumableRequest) => void, answer: () => void): void => {
      clearTimeout(late)
      if (resumable === undefined) answer()
      else this.#end(resumable, end)
    }
    begin((head, body) => {
      if (resumable === undefined && head.type === 'running') return send(head, body)
      this.#change(keep(), (to) => to.send(head, body))
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

  /** Sends the replies that a caller has missed, and all further ones. Throws `not-found`. */
  resume({ id, client, after }: ResumeHead, send: SendPart): Promise<McpReply> {
    const resumable = this.#requests.get(id)
    if (resumable?.client === client) return resumable.resume(after, send)
    throw new BusError('not-found', 'the request is not kept, or not any more')
  }

  [Symbol.dispose](): void {
    for (const resumable of this.#answered.keys()) this.#drop(resumable)
  }

  #keep(resumable: ResumableRequest, send: SendPart): ResumableRequest {
    // The gateway may have repeated a request that failed here.
    const before = this.#requests.get(resumable.id)
    if (before !== undefined) this.#drop(before)
    this.#requests.set(resumable.id, resumable)
    this.#bytes += resumable.bytes
    send({ type: 'kept', supervisor: this.#bus.id }, '')
    return resumable
  }

  #end(resumable: ResumableRequest, end: (resumable: ResumableRequest) => void): void {
    this.#change(resumable, end)
    if (this.#requests.get(resumable.id) !== resumable) return
    this.#storedBytes += resumable.stored?.bytes ?? 0
    this.#makeRoom()
    const over = setTimeout(() => this.#drop(resumable), this.#limits.keepMs).unref()
    this.#answered.set(resumable, over)
  }

  #change(resumable: ResumableRequest, change: (resumable: ResumableRequest) => void): void {
    const before = resumable.bytes
    change(resumable)
    if (this.#requests.get(resumable.id) !== resumable) return
    this.#bytes += resumable.bytes - before
    this.#makeRoom()
    while (this.#isFull || resumable.bytes > this.#limits.requestBytes) {
      const size = resumable.bytes
      if (!resumable.forget()) break
      this.#bytes -= size - resumable.bytes
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

  #drop(resumable: ResumableRequest): void {
    clearTimeout(this.#answered.get(resumable))
    this.#answered.delete(resumable)
    this.#requests.delete(resumable.id)
    this.#bytes -= resumable.bytes
    if (resumable.stored === undefined) return
    this.#storedBytes -= resumable.stored.bytes
    // Objects that cannot be removed expire.
    this.#bus.blobs.remove(resumable.stored.key).catch(() => undefined)
  }
}

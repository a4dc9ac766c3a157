import type { McpReplyHead } from '@mcp-host/contracts'
import type { SendPart } from './client-questions.ts'
import type { McpReply } from './serve-request.ts'

/** The overhead of one part besides its text. */
const PART_BYTES = 200

/** The current caller of a request. */
export interface Listener {
  readonly send: SendPart
  readonly answered: PromiseWithResolvers<McpReply>
}

export interface StoredResult {
  readonly key: string
  readonly bytes: number
}

interface Part {
  readonly head: McpReplyHead
  readonly body: string
}

/** The replies of a request, stored for a caller that lost its connection. Further replies go to the latest caller. */
export class ResumableRequest {
  readonly id: string
  /** The client whose session may resume the request. */
  readonly client: string
  #parts: Part[] = []
  #listener: Listener
  #count = 0
  #bytes = PART_BYTES
  #outcome: Promise<McpReply> | undefined
  #stored: StoredResult | undefined

  constructor(id: string, client: string, listener: Listener) {
    this.id = id
    this.client = client
    this.#listener = listener
  }

  /** The approximate memory of the replies. */
  get bytes(): number {
    return this.#bytes
  }

  /** The result, if it is in the object store. */
  get stored(): StoredResult | undefined {
    return this.#stored
  }

  send(head: McpReplyHead, body: string): void {
    if (head.type === 'running') return this.#listener.send(head, body)
    const part = { head: { ...head, number: ++this.#count }, body }
    this.#parts.push(part)
    this.#bytes += sizeOf(part)
    this.#listener.send(part.head, body)
  }

  end({ head, body }: McpReply): void {
    const answer = { head: { ...head, number: ++this.#count }, body }
    this.#bytes += sizeOf(answer)
    if (head.type === 'stored') this.#stored = head
    this.#settle(Promise.resolve(answer))
  }

  fail(error: unknown): void {
    this.#settle(Promise.reject(error))
  }

  /** Sends the replies after a number to another caller, and sends further replies there. */
  resume(after: number, send: SendPart): Promise<McpReply> {
    const answered = Promise.withResolvers<McpReply>()
    this.#listener.answered.resolve(MOVED)
    this.#listener = { send, answered }
    send({ type: 'running' }, '')
    for (const { head, body } of this.#parts) {
      if ('number' in head && Number(head.number) > after) send(head, body)
    }
    if (this.#outcome !== undefined) answered.resolve(this.#outcome)
    return answered.promise
  }

  /** Evicts the oldest notice, which later ones supersede. Returns whether there was one. */
  forget(): boolean {
    const index = this.#parts.findIndex(({ head }) => head.type === 'notice')
    const [part] = index < 0 ? [] : this.#parts.splice(index, 1)
    if (part !== undefined) this.#bytes -= sizeOf(part)
    return part !== undefined
  }

  #settle(outcome: Promise<McpReply>): void {
    // No caller may be left to handle a rejection.
    outcome.catch(() => undefined)
    this.#outcome = outcome
    this.#listener.answered.resolve(outcome)
  }
}

const MOVED: McpReply = { head: { type: 'moved' }, body: '' }

function sizeOf({ body }: Pick<McpReply, 'body'>): number {
  return body.length + PART_BYTES
}

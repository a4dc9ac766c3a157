import type { Bus } from '@mcp-host/bus'
import type { McpReply } from './serve-request.ts'

/** The time after an outage in which gateways reconnect. */
const SETTLING_MS = 2_000
/** Replies are kept longer than a gateway waits for a sign of life. */
const KEPT_MS = 10_000
const MAX_KEPT_BYTES = 16 * 1024 * 1024

/** Sends a reply again. */
export type SendReply = (head: McpReply['head'], body: McpReply['body']) => void

/**
 * Keeps replies that were sent during an outage of the broker, until their callers ping for them. Such replies may have
 * been lost.
 */
export class ReplyReplayBuffer {
  readonly #bus: Pick<Bus, 'sinceOutageMs'>
  /** Resends a reply, by the id of its request. */
  readonly #resumable = new Map<string, () => void>()
  #bytes = 0

  constructor(bus: Pick<Bus, 'sinceOutageMs'>) {
    this.#bus = bus
  }

  /** Keeps a reply that may be lost, while there is room. */
  keep(id: string, { head, body }: McpReply, send: SendReply): void {
    const isSafe = this.#bus.sinceOutageMs() > SETTLING_MS
    if (isSafe || this.#bytes + body.length > MAX_KEPT_BYTES) return
    this.#resumable.set(id, () => send(head, body))
    this.#bytes += body.length
    setTimeout(() => {
      this.#resumable.delete(id)
      this.#bytes -= body.length
    }, KEPT_MS).unref()
  }

  /** Sends the reply again. Returns whether it was kept. */
  send(id: string): boolean {
    const resend = this.#resumable.get(id)
    resend?.()
    return resend !== undefined
  }
}

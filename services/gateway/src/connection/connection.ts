import type { Down, SessionId, Principal } from '@mcp-host/contracts'
import type { WebSocket } from 'ws'
import { QueueNotifier } from '../session/queue-notifier.ts'

/** Limit for the unsent bytes of one socket. Above it, further frames wait. */
const MAX_BUFFERED_BYTES = 1024 * 1024

/** Limit for the messages of one client that wait to be stored. */
const MAX_WAITING = 64

/** The payload limit of a close frame. */
const MAX_REASON_BYTES = 123

/** The state of one client socket. */
export class Connection {
  readonly clientId = crypto.randomUUID()
  readonly connectedAt = new Date()
  readonly sessionId: SessionId
  readonly userAgent: string
  /** The user of the socket. */
  readonly principal: Principal
  /** Whether the client has been in the session before. */
  readonly isReconnect: boolean
  lastActiveAt = new Date()
  /** Id of the last event that was sent. */
  lastEventId: string
  /** The times of messages that this socket accepted and that have no answer, by their id. */
  readonly unanswered = new Map<string, number>()
  /** The time of the message whose first text is awaited. */
  answering: number | undefined
  /** The queue of the session, as this socket last reported it. */
  readonly queue = new QueueNotifier((frame) => void this.send(frame))
  readonly #socket: WebSocket
  /** The work for the client's last frame. Work for the next frame waits for it, so that frames keep their order. */
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(
    socket: WebSocket,
    about: {
      sessionId: SessionId
      userAgent: string
      principal: Principal
      lastEventId: string
      isReconnect: boolean
    },
  ) {
    this.#socket = socket
    this.sessionId = about.sessionId
    this.userAgent = about.userAgent
    this.principal = about.principal
    this.isReconnect = about.isReconnect
    this.lastEventId = about.lastEventId
  }

  /** Sends a frame. Resolves when there is room for more. */
  send(frame: Down): Promise<void> | undefined {
    if ('id' in frame && frame.id !== undefined) this.lastEventId = frame.id
    const text = JSON.stringify(frame)
    if (this.#socket.bufferedAmount < MAX_BUFFERED_BYTES) {
      this.#socket.send(text)
      return undefined
    }
    // Backpressure: the gateway reads nothing from a client that does not read.
    this.#socket.pause()
    return new Promise((resolve) => {
      // Also called with an error when the socket closes, which ends the wait.
      this.#socket.send(text, () => {
        if (this.#waiting < MAX_WAITING) this.#socket.resume()
        resolve()
      })
    })
  }

  /** Does work after all earlier work. While the client is far ahead, nothing is read from it. */
  async inOrder<T>(work: () => Promise<T>): Promise<T> {
    if (++this.#waiting === MAX_WAITING) this.#socket.pause()
    const done = this.#last.then(work).finally(() => {
      if (--this.#waiting === MAX_WAITING - 1) this.#socket.resume()
    })
    this.#last = done
    return done
  }

  close(code: number, reason: string): void {
    // A longer reason would throw, and a cut one could contain a wrong cursor.
    this.#socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason)
  }
}

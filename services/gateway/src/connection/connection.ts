import type { Down, SessionId } from '@mcp-host/contracts'
import type { WebSocket } from 'ws'
import { QueueNotifier } from '../session/queue-notifier.ts'

/** More than this waiting in one socket, and it is not given more until it is sent. */
const MAX_BUFFERED_BYTES = 1024 * 1024

/** So many messages of one client may wait to be stored. */
const MAX_WAITING = 64

/** The payload limit of a close frame. */
const MAX_REASON_BYTES = 123

/** One client socket and what is known about it. */
export class Connection {
  readonly clientId = crypto.randomUUID()
  readonly connectedAt = new Date()
  readonly sessionId: SessionId
  readonly userAgent: string
  /** The client has been in the session before. */
  readonly isReconnect: boolean
  lastActiveAt = new Date()
  /** Id of the last event that was sent. */
  lastEventId: string
  /** When the messages that were accepted here and have no answer yet were sent, by their id. */
  readonly unanswered = new Map<string, number>()
  /** When the message was sent whose first text is awaited. */
  answering: number | undefined
  /** The queue of the session as this socket has reported it. */
  readonly queue = new QueueNotifier((frame) => void this.send(frame))
  readonly #socket: WebSocket
  /** The last piece of work for the client's frames: the next one waits, so that they keep their order. */
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(
    socket: WebSocket,
    about: {
      sessionId: SessionId
      userAgent: string
      lastEventId: string
      isReconnect: boolean
    },
  ) {
    this.#socket = socket
    this.sessionId = about.sessionId
    this.userAgent = about.userAgent
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
    // Backpressure: a client that does not read is not read from either.
    this.#socket.pause()
    return new Promise((resolve) => {
      // Called with an error when the socket closes, which also ends the wait.
      this.#socket.send(text, () => {
        if (this.#waiting < MAX_WAITING) this.#socket.resume()
        resolve()
      })
    })
  }

  /** Does work after all that was given before. A client that is far ahead is not read from meanwhile. */
  async inOrder(work: () => Promise<void>): Promise<void> {
    if (++this.#waiting === MAX_WAITING) this.#socket.pause()
    this.#last = this.#last.then(work).finally(() => {
      if (--this.#waiting === MAX_WAITING - 1) this.#socket.resume()
    })
    await this.#last
  }

  close(code: number, reason: string): void {
    // A longer one throws; cut, a cursor in it would be another one.
    this.#socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason)
  }
}

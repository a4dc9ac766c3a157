import type { Down } from '@mcp-host/contracts'
import type { Channel } from './channel.ts'
import type { OutFrame } from './outbox.ts'

/** The end of a socket. `isOpened`: whether a frame has come. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
  readonly isOpened: boolean
}

export interface SocketChannelOptions {
  readonly onFrame: (frame: Down) => void
  /** Not called after `close`. */
  readonly onEnd: (end: SocketEnd) => void
}

/** A session over a WebSocket. */
export class SocketChannel implements Channel {
  readonly #socket: WebSocket
  #isClosed = false

  constructor(url: URL, { onFrame, onEnd }: SocketChannelOptions) {
    this.#socket = new WebSocket(url)
    let isOpened = false
    this.#socket.addEventListener('message', ({ data }) => {
      if (this.#isClosed) return
      isOpened = true
      // A frame of a later version has a type that no listener knows.
      onFrame(JSON.parse(String(data)) as Down)
    })
    this.#socket.addEventListener('close', ({ code, reason }) => {
      if (!this.#isClosed) onEnd({ code, reason, isOpened })
    })
    // A close event follows.
    this.#socket.addEventListener('error', () => undefined)
  }

  send(frame: OutFrame): void {
    this.#socket.send(JSON.stringify(frame))
  }

  ping(): void {
    this.#socket.send('{"type":"ping"}')
  }

  close(): void {
    this.#isClosed = true
    this.#socket.close()
  }
}

import { WebSocket } from 'ws'

interface Frame {
  readonly type: string
  readonly id?: string
  readonly payload: Readonly<Record<string, string>>
}

/** When a client resumed after the death of its gateway, by `performance.now()`. */
export interface Return {
  reconnected?: number
  /** The first text after the reconnect. */
  text?: number
}

/** A client that reconnects at once, as often as necessary. It stores no frames. */
export class ReturningClient implements Disposable {
  /** The answer so far. */
  text = ''
  /** The first error. */
  fault: string | undefined
  readonly back: Return = {}
  readonly opened = Promise.withResolvers<void>()
  /** Resolves with the first text. */
  readonly #begun = Promise.withResolvers<void>()
  /** Resolves with the first text from the other gateway. */
  readonly returned = Promise.withResolvers<void>()
  /** Resolves with the end of the answer. */
  readonly done = Promise.withResolvers<void>()
  readonly #fallback: string
  #sessionId = ''
  #lastId = ''
  #isLeaving = false
  #socket: WebSocket

  /** `fallback`: URL of the gateway to reconnect to. */
  constructor(url: string, fallback: string) {
    this.#fallback = fallback
    this.#socket = this.#connect(new URL('/ws', url))
  }

  /** Sends a message and waits for the first text of the answer. */
  async ask(text: string): Promise<void> {
    this.#socket.send(JSON.stringify({ type: 'message', payload: { text } }))
    await this.#begun.promise
  }

  /** Loses the connection. */
  drop(): void {
    this.#socket.terminate()
  }

  [Symbol.dispose](): void {
    this.#isLeaving = true
    this.#socket.terminate()
  }

  #connect(url: URL): WebSocket {
    url.protocol = 'ws:'
    const socket = new WebSocket(url)
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Frame))
    // A close follows.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (this.#isLeaving) return
      const next = new URL('/ws', this.#fallback)
      next.searchParams.set('sessionId', this.#sessionId)
      next.searchParams.set('after', this.#lastId)
      this.#socket = this.#connect(next)
    })
    return socket
  }

  #take({ type, id, payload }: Frame): void {
    if (id !== undefined) this.#lastId = id
    switch (type) {
      case 'connection':
        this.#sessionId ||= payload['sessionId'] ?? ''
        if (payload['state'] === 'reconnected') this.back.reconnected = performance.now()
        else if (payload['state'] !== 'connected') this.fault ??= payload['message']
        this.opened.resolve()
        break
      case 'text':
        this.text += payload['content'] ?? ''
        this.#begun.resolve()
        if (this.back.reconnected === undefined) break
        this.back.text ??= performance.now()
        this.returned.resolve()
        break
      case 'reset':
      case 'error':
        this.fault ??= payload['message']
        break
      case 'turn':
        if (payload['state'] !== 'done') break
        if (payload['outcome'] !== 'completed') this.fault ??= `the turn ${payload['outcome']}`
        this.returned.resolve()
        this.done.resolve()
        break
      default:
    }
  }
}

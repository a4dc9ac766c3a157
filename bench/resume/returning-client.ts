import { WebSocket } from 'ws'

interface Frame {
  readonly type: string
  readonly id?: string
  readonly payload: Readonly<Record<string, string>>
}

/** When a client was back after its gateway had died, by `performance.now()`. */
export interface Return {
  reconnected?: number
  /** The first text after that. */
  text?: number
}

/** A client that keeps only what it needs to come back, which it does at once and as often as it must. */
export class ReturningClient implements Disposable {
  /** All of the answer. */
  text = ''
  /** What went wrong, if something did. */
  fault: string | undefined
  readonly back: Return = {}
  readonly #opened = Promise.withResolvers<void>()
  readonly #begun = Promise.withResolvers<void>()
  readonly #returned = Promise.withResolvers<void>()
  readonly #done = Promise.withResolvers<void>()
  readonly #fallback: string
  #sessionId = ''
  #lastId = ''
  #isLeaving = false
  #socket: WebSocket

  /** `fallback`: the gateway to go to when the first one is gone. */
  constructor(url: string, fallback: string) {
    this.#fallback = fallback
    this.#socket = this.#connect(new URL('/ws', url))
  }

  async opened(): Promise<void> {
    await this.#opened.promise
  }

  /** Says something and waits for the first word of the answer. */
  async ask(text: string): Promise<void> {
    this.#socket.send(JSON.stringify({ type: 'message', payload: { text } }))
    await this.#begun.promise
  }

  /** Waits until text came from the other gateway. */
  async returned(): Promise<void> {
    await this.#returned.promise
  }

  /** Waits for the end of the answer. */
  async done(): Promise<void> {
    await this.#done.promise
  }

  /** As if the connection had been lost. */
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
    // Closes as well.
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
        this.#opened.resolve()
        break
      case 'text':
        this.text += payload['content'] ?? ''
        this.#begun.resolve()
        if (this.back.reconnected === undefined) break
        this.back.text ??= performance.now()
        this.#returned.resolve()
        break
      case 'reset':
      case 'error':
        this.fault ??= payload['message']
        break
      case 'turn':
        if (payload['state'] !== 'done') break
        if (payload['outcome'] !== 'completed') this.fault ??= `the turn ${payload['outcome']}`
        this.#returned.resolve()
        this.#done.resolve()
        break
      default:
    }
  }
}

import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { eventually } from './eventually.ts'

/** A frame that a client sent. */
interface SentFrame {
  readonly type: string
  readonly payload?: { readonly id?: string; readonly messageId?: string }
}

/** A gateway that sends only the frames of the test, for cases that no real one can be brought to. Knows every user. */
export class FakeGateway implements Disposable {
  /** All sockets, the newest last. */
  readonly sockets: WebSocket[] = []
  /** The path and query of each socket. */
  readonly queries: string[] = []
  readonly received: SentFrame[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    new WebSocketServer({ server }).on('connection', (socket, { url = '' }) => {
      this.sockets.push(socket)
      this.queries.push(url)
      socket.on('message', (data) => this.received.push(JSON.parse((data as Buffer).toString())))
    })
  }

  static async start(): Promise<FakeGateway> {
    const server = createServer((_, answer) => void answer.end('{"ticket":"T"}')).listen(
      0,
      '127.0.0.1',
    )
    await once(server, 'listening')
    return new FakeGateway(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Ids of all messages that were sent here. */
  get messages(): readonly (string | undefined)[] {
    return this.received.filter(({ type }) => type === 'message').map(({ payload }) => payload?.id)
  }

  /** Sends frames over the newest socket. */
  send(...frames: readonly object[]): void {
    for (const frame of frames) this.sockets.at(-1)?.send(JSON.stringify(frame))
  }

  /** Greets a client, once it has opened so many sockets. */
  async welcome({ sockets = 1, id = '0.0.-.0', state = 'connected' } = {}): Promise<void> {
    await eventually(() => this.sockets.length === sockets)
    this.send({ type: 'connection', id, payload: { state, sessionId: 'S', message: 'hello' } })
  }

  accept(messageId: string): void {
    this.send({ type: 'accepted', payload: { messageId, duplicate: false } })
  }

  /** Refuses a frame. `reason`: refines the code. */
  refuse(messageId: string, code: string, reason?: string): void {
    this.send({ type: 'error', payload: { code, reason, message: 'no', messageId } })
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.terminate()
    this.#server.close()
  }
}

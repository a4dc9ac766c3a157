import type { Down, SessionEvent } from '@mcp-host/contracts'
import { WebSocket } from 'ws'
import { eventually } from './eventually.ts'

export interface ChatSocketOptions {
  /** The URL of a gateway. */
  readonly url: string
  readonly sessionId?: string
  readonly after?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether protocol pings are answered; default true. */
  readonly autoPong?: boolean
}

/** The socket of a client, with all frames that it received. */
export class ChatSocket implements Disposable {
  readonly socket: WebSocket
  readonly frames: Down[] = []
  /** Code and reason of the close, once the socket is closed. */
  closed: { code: number; reason: string } | undefined

  private constructor({ url, sessionId, after, headers, autoPong = true }: ChatSocketOptions) {
    const target = new URL('/ws', url.replace('http', 'ws'))
    if (sessionId !== undefined) target.searchParams.set('sessionId', sessionId)
    if (after !== undefined) target.searchParams.set('after', after)
    this.socket = new WebSocket(target, { headers: { ...headers }, autoPong })
    this.socket.on('message', (data) => {
      this.frames.push(JSON.parse((data as Buffer).toString()) as Down)
    })
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    this.socket.on('error', () => {
      this.closed ??= { code: 0, reason: 'error' }
    })
  }

  /** Connects and waits for the welcome. */
  static async open(options: ChatSocketOptions): Promise<ChatSocket> {
    const chat = ChatSocket.start(options)
    await chat.waitFor((frame) => frame.type === 'connection')
    return chat
  }

  /** Starts to connect. */
  static start(options: ChatSocketOptions): ChatSocket {
    return new ChatSocket(options)
  }

  get sessionId(): string {
    const welcome = this.frames.find((frame) => frame.type === 'connection')
    return welcome?.payload.sessionId ?? ''
  }

  /** Frames of the session's event stream. */
  get events(): SessionEvent[] {
    return this.frames.filter(
      (frame): frame is SessionEvent => 'id' in frame && frame.type !== 'connection',
    )
  }

  /** The id of the last event, where a reconnect resumes. */
  get lastId(): string {
    const ids = this.frames.map((frame) => ('id' in frame ? frame.id : undefined))
    return ids.findLast((id) => id !== undefined) ?? ''
  }

  /** All answer text so far. */
  get text(): string {
    return this.frames
      .filter((frame) => frame.type === 'text')
      .map(({ payload }) => payload.content)
      .join('')
  }

  send(value: unknown): void {
    this.socket.send(typeof value === 'string' ? value : JSON.stringify(value))
  }

  say(text: string, id?: string): void {
    this.send({ type: 'message', payload: id === undefined ? { text } : { text, id } })
  }

  async waitFor(matches: (frame: Down) => boolean): Promise<Down> {
    return eventually(() => this.frames.find(matches), { what: 'the awaited frame' })
  }

  /** Waits until `count` turns are done. */
  async turnsDone(count = 1): Promise<void> {
    const isDone = (frame: Down): boolean => frame.type === 'turn' && frame.payload.state === 'done'
    await eventually(() => this.frames.filter(isDone).length >= count, {
      what: `the end of turn ${count}`,
      limitMs: 40_000,
    })
  }

  async hasClosed(): Promise<{ code: number; reason: string }> {
    return eventually(() => this.closed, { what: 'the close' })
  }

  [Symbol.dispose](): void {
    this.socket.terminate()
  }
}

import type { ChatSocket } from '@mcp-host/testkit'
import { WebSocket } from 'ws'

export type Frame = ChatSocket['frames'][number]

/** A turn as its user saw it; times in milliseconds. */
export interface TimedTurn {
  /** When the message was sent, by the clock that all threads share. */
  readonly at: number
  /** From the message to the first text. */
  readonly firstText: number
  /** From the message to the end of the turn. */
  readonly turn: number
  readonly text: string
  readonly messageId: string
  /** All that came in between. */
  readonly frames: readonly Frame[]
}

/** Milliseconds since the epoch, comparable between threads, as exact as `performance.now()`. */
export const now = (): number => performance.timeOrigin + performance.now()

/** A client that has one turn at a time and measures it. */
export class TimedChat implements Disposable {
  readonly sessionId: string
  /** From the request for the socket to the welcome, in milliseconds. */
  readonly attach: number
  readonly #socket: WebSocket

  private constructor(socket: WebSocket, sessionId: string, attach: number) {
    this.#socket = socket
    this.sessionId = sessionId
    this.attach = attach
  }

  /** Joins the session, or begins one. */
  static async open(url: string, sessionId?: string): Promise<TimedChat> {
    const target = new URL('/ws', url.replace('http', 'ws'))
    if (sessionId !== undefined) target.searchParams.set('sessionId', sessionId)
    const at = now()
    const socket = new WebSocket(target)
    const welcome = await new Promise<Frame>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(read(data)))
      socket.once('error', reject)
    })
    if (welcome.type !== 'connection' || welcome.payload.state !== 'connected') {
      throw new Error(`no session: ${JSON.stringify(welcome)}`)
    }
    return new TimedChat(socket, welcome.payload.sessionId ?? '', now() - at)
  }

  /**
   * Says something and waits for the end of the answer. Throws when the turn is not completed. `replaces`: an
   * earlier message, in whose place this one stands.
   */
  async ask(text: string, { replaces }: { readonly replaces?: string } = {}): Promise<TimedTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<TimedTurn>()
    const frames: Frame[] = []
    let firstText = Number.NaN
    let answer = ''
    const take = (data: Buffer): void => {
      const frame = read(data)
      frames.push(frame)
      if (frame.type === 'text') {
        if (answer === '') firstText = now() - at
        answer += frame.payload.content
      } else if (frame.type === 'error') reject(new Error(frame.payload.message))
      else if (frame.type === 'turn' && frame.payload.state === 'done') {
        if (frame.payload.outcome !== 'completed') reject(new Error(JSON.stringify(frame.payload)))
        const { messageId = '' } = frame.payload
        resolve({ at, firstText, turn: now() - at, text: answer, messageId, frames })
      }
    }
    const broken = (code: number): void => reject(new Error(`the socket was closed: ${code}`))
    this.#socket.on('message', take)
    this.#socket.once('close', broken)
    const at = now()
    this.#socket.send(JSON.stringify({ type: 'message', payload: { text, replaces } }))
    try {
      return await promise
    } finally {
      this.#socket.off('message', take)
      this.#socket.off('close', broken)
    }
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }
}

function read(data: Buffer): Frame {
  return JSON.parse(data.toString()) as Frame
}

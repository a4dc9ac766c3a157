import type { ChatSocket } from '@mcp-host/testkit'
import { WebSocket } from 'ws'

export type Frame = ChatSocket['frames'][number]

/** A turn as its user experiences it. All times are in milliseconds, by `now`. */
export interface TimedTurn {
  /** When the message was sent. */
  readonly at: number
  /** From the message to the first text. */
  readonly firstText: number
  /** From the message to the end of the turn. */
  readonly turn: number
  readonly text: string
  readonly messageId: string
  /** All frames of the turn with their arrival times. */
  readonly frames: readonly { readonly at: number; readonly frame: Frame }[]
}

/** Milliseconds since the epoch with the precision of `performance.now()`, comparable between threads and processes. */
export const now = (): number => performance.timeOrigin + performance.now()

/** A client that runs one turn at a time and measures it. */
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

  /** Joins the session, or creates one. */
  static async open(url: string, sessionId?: string): Promise<TimedChat> {
    const target = new URL('/ws', url.replace('http', 'ws'))
    if (sessionId !== undefined) target.searchParams.set('sessionId', sessionId)
    const at = now()
    const socket = new WebSocket(target)
    const welcome = await new Promise<Frame>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(parse(data)))
      socket.once('error', reject)
    })
    if (welcome.type !== 'connection' || welcome.payload.state !== 'connected') {
      throw new Error(`no session: ${JSON.stringify(welcome)}`)
    }
    return new TimedChat(socket, welcome.payload.sessionId ?? '', now() - at)
  }

  /** Sends a message, or replaces the message `replaces`. Throws when the turn is not completed. */
  async ask(text: string, { replaces }: { readonly replaces?: string } = {}): Promise<TimedTurn> {
    const { promise, resolve, reject } = Promise.withResolvers<TimedTurn>()
    const frames: { at: number; frame: Frame }[] = []
    let firstText = Number.NaN
    let answer = ''
    const onMessage = (data: Buffer): void => {
      const received = { at: now(), frame: parse(data) }
      const { frame } = received
      frames.push(received)
      if (frame.type === 'text') {
        if (answer === '') firstText = received.at - at
        answer += frame.payload.content
      } else if (frame.type === 'error') reject(new Error(frame.payload.message))
      else if (frame.type === 'turn' && frame.payload.state === 'done') {
        if (frame.payload.outcome !== 'completed') reject(new Error(JSON.stringify(frame.payload)))
        const { messageId = '' } = frame.payload
        resolve({ at, firstText, turn: received.at - at, text: answer, messageId, frames })
      }
    }
    const onClose = (code: number): void => reject(new Error(`the socket was closed: ${code}`))
    this.#socket.on('message', onMessage)
    this.#socket.once('close', onClose)
    const at = now()
    this.#socket.send(JSON.stringify({ type: 'message', payload: { text, replaces } }))
    try {
      return await promise
    } finally {
      this.#socket.off('message', onMessage)
      this.#socket.off('close', onClose)
    }
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }
}

function parse(data: Buffer): Frame {
  return JSON.parse(data.toString()) as Frame
}

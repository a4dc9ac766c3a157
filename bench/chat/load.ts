import { setTimeout as delay } from 'node:timers/promises'
import { script } from '@mcp-host/testkit'
import { WebSocket } from 'ws'

/** Microseconds since the epoch, comparable between processes of one machine. */
export const now = (): number => (performance.timeOrigin + performance.now()) * 1_000

/** What one turn took, in milliseconds. */
export interface TurnFigures {
  /** From sending the message until it is stored. */
  readonly accept: number
  /** From sending the message until an orchestrator has claimed the turn. */
  readonly claim: number
  /** From the claim until the model writes its first token. */
  readonly request: number
  /** From the model's first token until the client has it. */
  readonly firstDelta: number
  /** From sending the message until the client has the first token. */
  readonly firstText: number
  /** Each token's way from the model to the client. */
  readonly deltas: readonly number[]
}

export interface Load {
  readonly url: string
  readonly chats: number
  /** One after another, for each chat. */
  readonly turns: number
  readonly tokens: number
  readonly tokensPerSecond: number
}

export interface LoadFigures {
  readonly turns: readonly TurnFigures[]
  readonly seconds: number
}

/**
 * So many chats at once, each asking for a stamped answer and waiting for its end. They begin spread over
 * the length of one answer, as people do.
 */
export async function applyLoad(load: Load): Promise<LoadFigures> {
  const sockets = await Promise.all(Array.from({ length: load.chats }, () => connect(load.url)))
  const begin = now()
  const answerMs = (load.tokens / load.tokensPerSecond) * 1_000
  const turns = await Promise.all(
    sockets.map(async (socket, index) => {
      await delay((index / sockets.length) * answerMs)
      return chat(socket, load)
    }),
  )
  const seconds = (now() - begin) / 1e6
  for (const socket of sockets) socket.close()
  return { turns: turns.flat(), seconds }
}

function connect(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`)
  return new Promise((resolve, reject) => {
    socket.once('message', () => resolve(socket))
    socket.once('error', reject)
  })
}

async function chat(socket: WebSocket, { turns, ...answer }: Load): Promise<TurnFigures[]> {
  const figures: TurnFigures[] = []
  for (let turn = 0; turn < turns; turn++) figures.push(await oneTurn(socket, answer))
  return figures
}

function oneTurn(
  socket: WebSocket,
  { tokens, tokensPerSecond }: Pick<Load, 'tokens' | 'tokensPerSecond'>,
): Promise<TurnFigures> {
  const text = script({ tokens, tokensPerSecond, stamp: true })
  const { promise, resolve, reject } = Promise.withResolvers<TurnFigures>()
  const sentAt = now()
  let acceptedAt = sentAt
  let claimedAt = sentAt
  let firstStamp = 0
  let firstAt = 0
  const deltas: number[] = []
  const take = (data: Buffer): void => {
    const at = now()
    const frame = JSON.parse(data.toString()) as { type: string; payload: Record<string, string> }
    if (frame.type === 'accepted') acceptedAt = at
    else if (frame.type === 'error') reject(new Error(frame.payload['message']))
    else if (frame.type === 'text') {
      for (const stamp of (frame.payload['content'] ?? '').trim().split(' ')) {
        firstStamp ||= Number(stamp)
        firstAt ||= at
        deltas.push((at - Number(stamp)) / 1_000)
      }
    } else if (frame.type === 'turn' && frame.payload['state'] === 'started') claimedAt = at
    else if (frame.type === 'turn') {
      socket.off('message', take)
      if (frame.payload['outcome'] !== 'completed' || deltas.length !== tokens) {
        reject(
          new Error(`a turn ended with ${deltas.length} of ${tokens} tokens: ${data.toString()}`),
        )
      }
      resolve({
        accept: (acceptedAt - sentAt) / 1_000,
        claim: (claimedAt - sentAt) / 1_000,
        request: (firstStamp - claimedAt) / 1_000,
        firstDelta: (firstAt - firstStamp) / 1_000,
        firstText: (firstAt - sentAt) / 1_000,
        deltas,
      })
    }
  }
  socket.on('message', take)
  socket.send(JSON.stringify({ type: 'message', payload: { text } }))
  return promise
}

import { setTimeout as delay } from 'node:timers/promises'
import { script } from '@mcp-host/testkit'
import type { Frame } from '../timed-chat.ts'
import { now, TimedChat } from '../timed-chat.ts'

/** Microseconds since the epoch, the unit of the stamps that models write as tokens. */
export const nowUs = (): number => now() * 1_000

/** Durations within one turn, in milliseconds. */
export interface TurnFigures {
  /** From sending the message until it is stored. */
  readonly accept: number
  /** From sending the message until an orchestrator has claimed the turn. */
  readonly claim: number
  /** From the claim until the model writes its first token. */
  readonly request: number
  /** From the model's first token until the client receives it. */
  readonly firstDelta: number
  /** From sending the message until the client receives the first token. */
  readonly firstText: number
  /** The delay of each token from the model to the client. */
  readonly deltas: readonly number[]
}

export interface Load {
  readonly url: string
  readonly chats: number
  /** Turns of each chat, one after another. */
  readonly turns: number
  readonly tokens: number
  readonly tokensPerSecond: number
}

export interface LoadFigures {
  readonly turns: readonly TurnFigures[]
  readonly seconds: number
}

/** Runs chats at once, whose beginnings are spread over the length of one answer. */
export async function applyLoad(load: Load): Promise<LoadFigures> {
  using stack = new DisposableStack()
  const chats = await Promise.all(
    Array.from({ length: load.chats }, async () => stack.use(await TimedChat.open(load.url))),
  )
  const begin = now()
  const answerMs = (load.tokens / load.tokensPerSecond) * 1_000
  const turns = await Promise.all(
    chats.map(async (chat, index) => {
      await delay((index / chats.length) * answerMs)
      const figures: TurnFigures[] = []
      while (figures.length < load.turns) figures.push(await measureTurn(chat, load))
      return figures
    }),
  )
  return { turns: turns.flat(), seconds: (now() - begin) / 1_000 }
}

async function measureTurn(
  chat: TimedChat,
  { tokens, tokensPerSecond }: Load,
): Promise<TurnFigures> {
  const {
    at: sentAt,
    frames,
    firstText,
  } = await chat.ask(script({ tokens, tokensPerSecond, stamp: true }))
  const timeOf = (matches: (frame: Frame) => boolean): number =>
    frames.find(({ frame }) => matches(frame))?.at ?? sentAt
  const acceptedAt = timeOf(({ type }) => type === 'accepted')
  const claimedAt = timeOf((frame) => frame.type === 'turn' && frame.payload.state === 'started')
  const arrivals = frames.flatMap(({ at, frame }) =>
    frame.type === 'text'
      ? frame.payload.content
          .trim()
          .split(' ')
          .map((stamp) => ({ at, writtenAt: Number(stamp) / 1_000 }))
      : [],
  )
  const [first] = arrivals
  if (first === undefined || arrivals.length !== tokens) {
    throw new Error(`a turn ended with ${arrivals.length} of ${tokens} tokens`)
  }
  return {
    accept: acceptedAt - sentAt,
    claim: claimedAt - sentAt,
    request: first.writtenAt - claimedAt,
    firstDelta: first.at - first.writtenAt,
    firstText,
    deltas: arrivals.map(({ at, writtenAt }) => at - writtenAt),
  }
}

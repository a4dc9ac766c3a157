import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { eventually, script } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import { DONE, RawSocket, textOf } from './raw-socket.ts'
import { now, TimedChat } from '../timed-chat.ts'

/** About 400 KB: the text of one generation must fit into one message of the broker. */
const TOKENS = 60_000
const ANSWER = Array.from({ length: TOKENS }, (_, index) => `w${index} `).join('')
/** Answers per window, 5 MB together. */
const ANSWERS = 13
const LIMIT_MS = 60_000

/** Writes 5 MB of text at full speed to a client that reads one byte per second. */
export async function slowReader(stack: Stack): Promise<Strain> {
  const bytesRead: number[] = []
  const rates: number[] = []
  let writer: TimedChat | undefined
  let reader: RawSocket | undefined
  let answers = 0
  return {
    async prepare() {
      writer = await TimedChat.open(stack.url)
      reader = await RawSocket.open(stack.url, writer.sessionId, { chunkBytes: 1 })
      answers = 0
    },
    async run(windowMs) {
      const [begin, bytes] = [now(), reader?.bytes ?? 0]
      reader?.readSlowly(1_000)
      let replaces: string | undefined
      while (answers < ANSWERS && now() < begin + windowMs) {
        // Each message replaces the previous one, so that the prompt stays short.
        const turn = await writer?.ask(
          script({ tokens: TOKENS, tokensPerSecond: 0 }),
          replaces === undefined ? {} : { replaces },
        )
        if (turn?.text !== ANSWER)
          throw new Error(`the asking client got ${turn?.text.length} characters`)
        replaces = turn.messageId
        answers++
      }
      rates.push((answers * ANSWER.length) / (now() - begin))
      await delay(Math.max(0, begin + windowMs - now()))
      bytesRead.push((reader?.bytes ?? 0) - bytes)
    },
    async settle() {
      const [socket, expected] = [reader, ANSWER.repeat(answers)]
      if (socket === undefined) return
      // It reads the rest, which the gateway has buffered.
      socket.readFast()
      const isOver = (): boolean =>
        socket.isClosed || (socket.endsWith(DONE) && textOf(socket.frames()) === expected)
      await eventually(isOver, { what: 'the end for the slow client', limitMs: LIMIT_MS })
      if (socket.isClosed) throw new Error('the slow client was dropped')
      socket[Symbol.dispose]()
      writer?.[Symbol.dispose]()
    },
    figures: () => ({
      bytesReadInWindows: bytesRead.slice(1),
      writtenKbPerSecond: quantile(rates, 0.5),
    }),
  }
}

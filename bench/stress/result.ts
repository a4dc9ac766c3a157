import type { Stack } from '@mcp-host/testkit'
import { script } from '@mcp-host/testkit'
import { quantile } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import { TimedChat } from './timed-chat.ts'

export const RESULT_BYTES = 20_000_000
/** What a client is shown of it. */
const EXCERPT_LENGTH = 65_536
const READ_LENGTH = 1_000

/** A tool result of 20 MB: the turn goes on with its beginning, and its end can be read. */
export async function largeResult(stack: Stack): Promise<Strain> {
  const turns: number[] = []
  const reads: number[] = []
  return {
    async run() {
      using chat = await TimedChat.open(stack.url)
      const call = { name: 'other__large', arguments: {} }
      const asked = await chat.ask(script({ calls: [call] }, { text: 'so much' }))
      if (asked.text !== 'so much') throw new Error(`the turn was answered: ${asked.text}`)
      const { callId, blob, content } = resultOf(asked.frames)
      const [excerpt = ''] = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
      if ((blob?.bytes ?? 0) < RESULT_BYTES || !excerpt.startsWith('x'.repeat(EXCERPT_LENGTH))) {
        throw new Error(`of the result was shown: ${JSON.stringify({ blob, excerpt })}`)
      }
      turns.push(asked.turn)
      const offset = RESULT_BYTES - READ_LENGTH
      const read = {
        name: 'result__read',
        arguments: { call: callId, offset, length: READ_LENGTH },
      }
      const told = await chat.ask(script({ calls: [read] }, { text: 'its end' }))
      const [end] = resultOf(told.frames).content
      const expected = `[characters ${offset} to ${RESULT_BYTES} of ${RESULT_BYTES}; this is its end]\n${'x'.repeat(READ_LENGTH)}`
      if (end?.['text'] !== expected) throw new Error(`the end was read as ${JSON.stringify(end)}`)
      reads.push(told.turn)
    },
    figures: () => ({
      turnWithResultMs: { p50: quantile(turns, 0.5), max: quantile(turns, 1) },
      turnWithReadMs: { p50: quantile(reads, 0.5), max: quantile(reads, 1) },
    }),
  }
}

type Turn = Awaited<ReturnType<TimedChat['ask']>>

function resultOf(frames: Turn['frames']) {
  for (const frame of frames) {
    if (frame.type === 'tool' && frame.payload.state === 'result') return frame.payload
  }
  throw new Error('a tool call had no result')
}

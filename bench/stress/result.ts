import type { Stack } from '@mcp-host/testkit'
import { script } from '@mcp-host/testkit'
import { quantiles } from '../quantile.ts'
import type { Strain } from './control-windows.ts'
import type { TimedTurn } from '../timed-chat.ts'
import { TimedChat } from '../timed-chat.ts'

export const RESULT_BYTES = 20_000_000
/** Length of the excerpt that clients receive. */
const EXCERPT_LENGTH = 65_536
const READ_LENGTH = 1_000

/** Runs turns with a tool result of 20 MB, whose excerpt the model receives, and turns that read its end. */
export async function largeResult(stack: Stack): Promise<Strain> {
  const turns: number[] = []
  const reads: number[] = []
  return {
    async run() {
      using chat = await TimedChat.open(stack.url)
      const call = { name: 'other__large', arguments: {} }
      const asked = await chat.ask(script({ calls: [call] }, { text: 'so much' }))
      if (asked.text !== 'so much') throw new Error(`the turn got a wrong answer: ${asked.text}`)
      const { callId, blob, content } = resultOf(asked.frames)
      const [excerpt = ''] = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
      if ((blob?.bytes ?? 0) < RESULT_BYTES || !excerpt.startsWith('x'.repeat(EXCERPT_LENGTH))) {
        throw new Error(`the excerpt of the result is ${JSON.stringify({ blob, excerpt })}`)
      }
      turns.push(asked.turn)
      const offset = RESULT_BYTES - READ_LENGTH
      const read = {
        name: 'result__read',
        arguments: { call: callId, offset, length: READ_LENGTH },
      }
      const reading = await chat.ask(script({ calls: [read] }, { text: 'its end' }))
      const [end] = resultOf(reading.frames).content
      const expected = `[characters ${offset} to ${RESULT_BYTES} of ${RESULT_BYTES}; this is its end]\n${'x'.repeat(READ_LENGTH)}`
      if (end?.['text'] !== expected) throw new Error(`the end was read as ${JSON.stringify(end)}`)
      reads.push(reading.turn)
    },
    figures: () => ({
      turnWithResultMs: quantiles(turns, 'p50', 'max'),
      turnWithReadMs: quantiles(reads, 'p50', 'max'),
    }),
  }
}

function resultOf(frames: TimedTurn['frames']) {
  for (const { frame } of frames) {
    if (frame.type === 'tool' && frame.payload.state === 'result') return frame.payload
  }
  throw new Error('a tool call had no result')
}

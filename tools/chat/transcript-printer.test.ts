import type { ClientEvent } from '@mcp-host/client'
import { expect, test } from 'vitest'
import { TranscriptPrinter } from './transcript-printer.ts'

const REASON = 'the model cannot be reached'

/** What is printed of a turn that fails, without notes. */
function printed(...events: readonly object[]): string {
  return printedAndNoted(...events).text
}

function printedAndNoted(...events: readonly object[]): { text: string; notes: string } {
  let text = ''
  let notes = ''
  const printer = new TranscriptPrinter(
    (part) => void (text += part),
    (part) => void (notes += part),
  )
  const all = [
    { type: 'turn', payload: { state: 'started' } },
    ...events,
    { type: 'turn', payload: { state: 'done', outcome: 'failed', error: { message: REASON } } },
  ]
  // Other fields are not printed.
  for (const event of all) printer.print(event as ClientEvent)
  return { text, notes }
}

const text = (content: string) => ({ type: 'text', payload: { content } })
const reset = { type: 'reset', payload: { message: `No answer (${REASON}); trying again` } }

test('the reason of a failed turn is printed once, whatever its retries and its text say', () => {
  expect(printed()).toBe(`Sorry: ${REASON}\n`)
  expect(printed(reset, reset, reset)).toBe(`Sorry: ${REASON}\n`)
  const answer = `I could not answer this: ${REASON}. Send it again.`
  expect(printed(reset, reset, text(answer))).toBe(`${answer}\n`)
})

test('retries without text are noted once beside an output that is no terminal', () => {
  const notes = '(no answer yet; trying again)\n'
  expect(printedAndNoted(reset, reset)).toEqual({ text: `Sorry: ${REASON}\n`, notes })
  expect(printedAndNoted(text('Half'), reset, reset).notes).toBe('')
})

test('that a turn waits for an answer is not printed where nobody can answer', () => {
  const waiting = { type: 'turn', payload: { state: 'waiting', until: 0 } }
  expect(printed(waiting)).toBe(`Sorry: ${REASON}\n`)
})

test('a retry that voids printed text is named', () => {
  expect(printed(text('Half'), reset)).toBe(
    `Half\n(No answer (${REASON}); trying again)\nSorry: ${REASON}\n`,
  )
})

test('a refused call has its reason without the words for the model', () => {
  let shown = ''
  const printer = new TranscriptPrinter(
    (part) => (shown += part),
    () => undefined,
  )
  const refusal = 'not run: the user did not allow this call. Do not try it again.'
  const content = [{ type: 'text', text: refusal }]
  const about = { callId: 'c1', server: 'files', tool: 'write', outcome: 'refused' as const }
  printer.print({ type: 'tool', id: '1.1.1.0', payload: { state: 'result', ...about, content } })
  expect(shown).toBe('← files.write refused\n  The user did not allow this call.\n')
})

import { expect, test } from 'vitest'
import { TranscriptPrinter } from './transcript-printer.ts'

test('a loss of text is printed only where text was printed', () => {
  let printed = ''
  const printer = new TranscriptPrinter((text) => (printed += text))
  const message = 'The answer was interrupted and is written anew'
  printer.print({ type: 'reset', id: '1.1.1.0', payload: { message } })
  expect(printed).toBe('')
  printer.print({ type: 'text', id: '1.1.1.3', payload: { content: 'old' } })
  printer.print({ type: 'reset', id: '2.1.2.0', payload: { message } })
  expect(printed).toBe(`old\n(${message})\n`)
})

test('a refused call has its reason without the words for the model', () => {
  let printed = ''
  const printer = new TranscriptPrinter((text) => (printed += text))
  const text = 'not run: the user did not allow this call. Do not try it again.'
  const content = [{ type: 'text', text }]
  const about = { callId: 'c1', server: 'files', tool: 'write', outcome: 'refused' as const }
  printer.print({ type: 'tool', id: '1.1.1.0', payload: { state: 'result', ...about, content } })
  expect(printed).toBe('← files.write refused\n  The user did not allow this call.\n')
})

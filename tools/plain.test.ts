import { expect, test } from 'vitest'
import type { ClientEvent } from '@mcp-host/client'
import { TranscriptPrinter } from './chat/transcript-printer.ts'
import { plain, plainLine } from './plain.ts'

const HOSTILE = [
  ['clears the screen', '\u001B[2J'],
  ['sets the title', '\u001B]0;title\u0007'],
  ['writes to the clipboard', '\u001B]52;c;AAAA\u001B\\'],
  ['is a sequence of one character', '\u009B2J'],
  ['goes back in the line', '\r'],
  ['takes back what is written', '\b\u007F'],
  ['shows its characters in another order', '\u202E\u2066'],
  ['ends a string of the terminal', '\u0000\u009C'],
] as const
const STEERING = /(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/u

test.each(HOSTILE)('a text that %s does so no more', (_, text) => {
  expect(plain(`a${text}b`)).not.toMatch(STEERING)
})

test('lines, tabs and letters of every script stay', () => {
  const text = 'one\n\ttwo größe 検索 עברית 👍🏽 e\u0301'
  expect(plain(text)).toBe(text)
})

test('a field of a table forges no row or column', () => {
  expect(plainLine('a\nb\tc\r\u2028d\u2029e')).toBe('a b c  d e')
})

test.each(HOSTILE)('the chat prints no text that %s', (_, text) => {
  const call = { id: 'c', server: text, tool: text, name: text } as const
  const common = { id: '1', sessionId: 's' }
  const events = [
    { type: 'text', payload: { content: text } },
    { type: 'tool', payload: { ...call, state: 'call', arguments: { [text]: text } } },
    {
      type: 'tool',
      payload: { ...call, state: 'result', outcome: 'ok', content: [{ type: 'text', text }] },
    },
    {
      type: 'tool',
      payload: { ...call, state: 'result', outcome: 'error', error: { message: text } },
    },
    { type: 'reset', payload: { message: text } },
    { type: 'context', payload: { message: text } },
    { type: 'turn', payload: { state: 'done', error: { message: text } } },
    { type: 'input', payload: { ...call, state: 'answered', kind: 'approval', action: 'accept' } },
    // Fields that the printer does not read are left out.
  ].map((event) => ({ ...common, ...event }) as unknown as ClientEvent)
  const written: string[] = []
  const printer = new TranscriptPrinter(
    (line) => written.push(line),
    () => undefined,
  )
  for (const event of events) printer.print(event)
  expect(written.length).toBeGreaterThan(events.length)
  expect(written.join('')).not.toMatch(STEERING)
})

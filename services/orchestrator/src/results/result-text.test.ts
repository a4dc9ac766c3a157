import type { ToolCallId, ToolFinished } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { text } from '../context/__fixtures__/facts.ts'
import { resultText } from './result-text.ts'

const answer: ToolFinished = {
  type: 'tool-finished',
  call: 'g-0' as ToolCallId,
  server: 'test',
  tool: 'echo',
  outcome: 'ok',
  content: [],
  durationMs: 1,
}
test.each<[string, Partial<ToolFinished>, string]>([
  ['texts as lines', { content: [text('a'), text('b')] }, 'a\nb'],
  ['no content as an empty text', {}, ''],
  ['structured content without text as JSON', { structuredContent: { a: [1] } }, '{"a":[1]}'],
  [
    'text without the structured content beside it',
    { content: [text('one')], structuredContent: { a: 1 } },
    'one',
  ],
  [
    'an image as its type without its data',
    { content: [text('see'), { type: 'image', mimeType: 'image/png', data: 'iVBOR' }] },
    'see\n[image image/png]',
  ],
  [
    'an embedded text as text',
    { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }] },
    'inside',
  ],
  [
    'an embedded file as its URI',
    { content: [{ type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA' } }] },
    '[resource file:///a.bin]',
  ],
  [
    'a link with what it says',
    { content: [{ type: 'resource_link', name: 'a', uri: 'file:///a' }] },
    '[resource_link name: a, uri: file:///a]',
  ],
  [
    'an excerpt in full with the line about its size',
    {
      content: [text('x'.repeat(65_536)), text('… (the first 65536 of 700000 characters)')],
      blob: { key: 'k', bytes: 700_000, digest: 'd' },
    },
    `${'x'.repeat(65_536)}\n… (the first 65536 of 700000 characters)`,
  ],
  [
    'a block of an unknown type as its JSON',
    { content: [{ type: 'hologram' }] },
    '{"type":"hologram"}',
  ],
])('the text of a result has %s', (_, more, expected) => {
  expect(resultText({ ...answer, ...more })).toBe(expected)
})

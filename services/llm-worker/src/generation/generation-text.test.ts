import type { GenerationId, TextDelta, ToolCallId } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { GenerationText } from './generation-text.ts'

const generation = 'session-0' as GenerationId
const call = {
  type: 'tool-call' as const,
  id: 'session-0-0' as ToolCallId,
  name: 'test__echo',
  arguments: {},
}

let text: GenerationText
beforeEach(() => {
  text = new GenerationText(generation)
})

function parts(deltas: readonly TextDelta[]): [number, string, string][] {
  return deltas.map(({ offset, kind, text: content }) => [offset, kind, content])
}

test('text that turns out to be reasoning is a block of reasoning of the same length', () => {
  text.append('text', 'plan')
  text.relabel('reasoning')
  text.append('text', 'four')
  expect(text.content()).toEqual([
    { type: 'reasoning', text: 'plan' },
    { type: 'text', text: 'four' },
  ])
  expect(text.since(2)).toMatchObject([
    { offset: 2, kind: 'reasoning', text: 'an' },
    { offset: 4, kind: 'text', text: 'four' },
  ])
})

test('offsets of deltas count text and reasoning together', () => {
  expect(text.append('reasoning', 'hmm')).toEqual({
    generation,
    offset: 0,
    kind: 'reasoning',
    text: 'hmm',
  })
  expect(parts([text.append('text', 'an'), text.append('text', 'swer')])).toEqual([
    [3, 'text', 'an'],
    [5, 'text', 'swer'],
  ])
  expect(text.length).toBe(9)
})

test('a tool call does not advance the offset', () => {
  text.append('text', 'ab')
  text.addToolCall(call)
  expect(text.append('text', 'cd').offset).toBe(2)
})

test('pieces are joined into blocks in the order of writing', () => {
  text.append('reasoning', 'h')
  text.append('reasoning', 'm')
  text.append('text', 'one')
  text.addToolCall(call)
  text.append('text', 'two')
  expect(text.content()).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'one' },
    call,
    { type: 'text', text: 'two' },
  ])
})

test('text after the end of a block begins another block of the same kind', () => {
  text.append('text', 'one')
  text.endBlock(undefined)
  text.append('text', 'two')
  expect(text.content()).toEqual([
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ])
})

test('provider metadata is kept with its block', () => {
  text.append('reasoning', 'hm')
  text.endBlock({ google: { thoughtSignature: 's1' } })
  text.append('text', 'so')
  text.endBlock(undefined)
  expect(text.content()).toEqual([
    { type: 'reasoning', text: 'hm', providerMetadata: { google: { thoughtSignature: 's1' } } },
    { type: 'text', text: 'so' },
  ])
})

test('hidden reasoning is kept as an empty block with its provider metadata', () => {
  text.endBlock({ openai: { encrypted: 'x' } })
  expect(text.content()).toEqual([
    { type: 'reasoning', text: '', providerMetadata: { openai: { encrypted: 'x' } } },
  ])
  expect(text.since(0)).toEqual([])
})

test.each([
  [
    0,
    [
      [0, 'reasoning', 'hmm'],
      [3, 'text', 'one'],
      [6, 'text', 'two'],
    ],
  ],
  [
    2,
    [
      [2, 'reasoning', 'm'],
      [3, 'text', 'one'],
      [6, 'text', 'two'],
    ],
  ],
  [
    3,
    [
      [3, 'text', 'one'],
      [6, 'text', 'two'],
    ],
  ],
  [
    5,
    [
      [5, 'text', 'e'],
      [6, 'text', 'two'],
    ],
  ],
  [8, [[8, 'text', 'o']]],
  [9, []],
  [100, []],
])('deltas since offset %i are rebuilt from the content', (offset, expected) => {
  text.append('reasoning', 'hmm')
  text.append('text', 'one')
  text.addToolCall(call)
  text.append('text', 'two')
  expect(parts(text.since(offset))).toEqual(expected)
})

test('offsets count UTF-16 units', () => {
  text.append('text', '👋é')
  expect(text.append('text', 'a').offset).toBe(3)
})

test('a character that is split between deltas is joined in the content', () => {
  const [high = '', low = ''] = '👋'.split('')
  text.append('text', `a${high}`)
  expect(text.append('text', `${low}b`).offset).toBe(2)
  expect(text.content()).toEqual([{ type: 'text', text: 'a👋b' }])
  const [delta] = text.since(2)
  expect(`a${high}${delta?.text}`).toBe('a👋b')
})

import { describe, expect, test } from 'vitest'
import type { StreamPart } from '../model.ts'
import { modelOutputs, readable } from './__fixtures__/model-outputs.ts'
import { ToolCallSplitter } from './tool-call-splitter.ts'

const tools = new Set(['get_weather', 'search', 'list_files', 'now', 'say', 'deep', 'write'])

/** The parts that are read from an output in these pieces. */
function split(pieces: Iterable<string>): StreamPart[] {
  const splitter = new ToolCallSplitter((tool) => tools.has(tool))
  const parts = Array.from(pieces, (piece) => splitter.push(piece)).flat()
  return [...parts, ...splitter.end()]
}

test('the fixture has at least a hundred outputs', () => {
  expect(modelOutputs.length).toBeGreaterThanOrEqual(100)
})

describe.each(modelOutputs.map((each, index) => ({ ...each, index })))(
  'output $index: $output',
  ({ output, expected }) => {
    test('an output is read as the expected texts and calls', () => {
      expect(readable(split([output]))).toEqual(expected)
    })

    test('an output is read equally when it is split at any position', () => {
      for (let at = 0; at <= output.length; at++) {
        const parts = split([output.slice(0, at), output.slice(at)])
        expect(readable(parts), `split at ${at}`).toEqual(expected)
      }
      // In UTF-16 units, which splits characters, too.
      expect(readable(split(output.split('')))).toEqual(expected)
    })
  },
)

test('no part of a call is shown as text', () => {
  const splitter = new ToolCallSplitter((tool) => tools.has(tool))
  const output = 'Look:\n```json\n{"tool":"now","arguments":{}}\n```\nok'
  let shown = ''
  for (const char of output) {
    for (const part of splitter.push(char)) if (part.type === 'text-delta') shown += part.text
    expect('Look:\nok'.startsWith(shown)).toBe(true)
  }
  expect(shown).toBe('Look:\nok')
})

test('text that cannot be part of a call is passed on at once', () => {
  const splitter = new ToolCallSplitter((tool) => tools.has(tool))
  const shown = ['so ', '{', '"a": ', '[', '1]} `', 'x` '].map((piece) =>
    readable(splitter.push(piece)),
  )
  expect(shown).toEqual([['so '], [], ['{"a": '], [], ['[1]} '], ['`x` ']])
})

test('a call whose arguments are nested too deep is passed on unparsed', () => {
  const output = `{"tool":"write","arguments":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`
  expect(split([output])).toEqual([{ type: 'tool-call', name: 'write', arguments: output }])
})

test('arguments of a megabyte are read from small pieces', () => {
  const text = 'x'.repeat(1024 * 1024)
  const output = `{"tool":"write","arguments":{"text":"${text}"}}`
  const pieces = Array.from({ length: Math.ceil(output.length / 8) }, (_, index) =>
    output.slice(index * 8, index * 8 + 8),
  )
  expect(split(pieces)).toEqual([
    { type: 'tool-call', name: 'write', arguments: JSON.stringify({ text }) },
  ])
})

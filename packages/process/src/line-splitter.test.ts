import { expect, test } from 'vitest'

import { LineSplitter } from './line-splitter.ts'

const cut = { maxLineBytes: 5, whenTooLong: 'cut' } as const
const feed = (splitter: LineSplitter, ...chunks: (string | Buffer)[]): string[] =>
  chunks.flatMap((chunk) => Array.from(splitter.push(Buffer.from(chunk)), String))

test('lines are the same for any split into chunks', () => {
  const text = Buffer.from('é\r\n\nab\ncd')
  for (let at = 0; at <= text.length; at += 1) {
    const splitter = new LineSplitter(cut)
    expect(feed(splitter, text.subarray(0, at), text.subarray(at))).toEqual(['é', '', 'ab'])
    expect(String(splitter.rest())).toBe('cd')
  }
})

test('a long line is cut, and the next line is complete', () => {
  expect(feed(new LineSplitter(cut), 'abc', 'defghi', 'jkl\nxy\n')).toEqual(['abcde', 'xy'])
})

test('a long line is an error when the splitter is configured to throw', () => {
  const splitter = new LineSplitter({ ...cut, whenTooLong: 'throw' })
  expect(feed(splitter, 'abcde\n')).toEqual(['abcde'])
  expect(() => feed(splitter, 'abcdef')).toThrow(RangeError)
})

test('a skipped line is left out, and the next lines are complete', () => {
  const splitter = new LineSplitter({ maxLineBytes: 100, whenTooLong: 'throw' })
  const push = (text: string): string[] => [...splitter.push(Buffer.from(text))].map(String)
  expect(push('one\nlon')).toEqual(['one'])
  expect(push('g ')).toEqual([])
  expect(splitter.bytes).toBe(5)
  expect(splitter.beginning().toString()).toBe('long ')
  splitter.skip()
  expect(push('x'.repeat(1_000))).toEqual([])
  expect(splitter.bytes).toBe(0)
  expect(push('end\ntwo\nth')).toEqual(['two'])
  expect(push('ree\n')).toEqual(['three'])
})

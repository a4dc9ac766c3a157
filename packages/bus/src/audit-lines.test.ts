import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { packLines, unpackLines } from './audit-lines.ts'

const many = Array.from({ length: 100 }, (_, count) => `{"seq":${count},"action":"tool-started"}`)

test('few entries are stored as lines, so that they can be read without the host', () => {
  const payload = packLines(['{"a":1}', '{"b":"ü"}'])
  expect(payload.toString()).toBe('{"a":1}\n{"b":"ü"}')
  expect(unpackLines(payload)).toEqual(['{"a":1}', '{"b":"ü"}'])
})

test('many entries are compressed', () => {
  const payload = packLines(many)
  expect(payload.length).toBeLessThan(many.join('\n').length / 4)
  expect(unpackLines(payload)).toEqual(many)
})

test.each([
  ['a damaged payload', packLines(many).subarray(0, 100)],
  ['a payload that is huge once it is unpacked', zstdCompressSync(Buffer.alloc(32 * 1024 * 1024))],
])('%s is one entry that is no JSON', (_, payload) => {
  expect(unpackLines(payload)).toEqual([payload.toString('hex')])
})

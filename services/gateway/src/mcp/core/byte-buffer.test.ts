import { expect, test } from 'vitest'
import { ByteBuffer } from './byte-buffer.ts'

const KIB = 1024

function piece(length: number, value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).fill(value)
}

function filled(pieces: readonly Uint8Array<ArrayBuffer>[]): ByteBuffer {
  const buffer = new ByteBuffer()
  for (const each of pieces) {
    const size = buffer.sizeWith(each.length)
    buffer.append(each)
    expect(buffer.sizeWith(0)).toBe(size)
  }
  return buffer
}

test.each([
  ['no piece', []],
  ['one piece', [3]],
  ['small ones', [1, 2, 3, 4_000, 5_000, 15_000]],
  ['large ones', [20_000, 70_000, 16_384]],
  ['both in turn', [1, 1, 20_000, 1, 1, 50_000, 9_000, 9_000, 20_000]],
  ['many small ones', Array.from({ length: 3_000 }, () => 100)],
])('gives back the bytes of %s in order', (_, lengths) => {
  const pieces = lengths.map((length, index) => piece(length, index % 256))
  const buffer = filled(pieces)
  expect(Buffer.compare(buffer.bytes(), Buffer.concat(pieces))).toBe(0)
  expect(buffer.length).toBe(Buffer.concat(pieces).length)
})

test('keeps a single piece and large ones as they are, and copies no array twice', () => {
  const only = piece(10, 1)
  expect(filled([only]).bytes()).toBe(only)
  const large = Array.from({ length: 10 }, () => piece(64 * KIB, 1))
  expect(filled(large).sizeWith(0)).toBe(640 * KIB)
})

test('takes little more memory than the bytes of tiny pieces', () => {
  const tiny = filled(Array.from({ length: 300 * KIB }, () => piece(1, 1)))
  expect(tiny.sizeWith(0)).toBeLessThan(400 * KIB)
})

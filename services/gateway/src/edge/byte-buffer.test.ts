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
  ['no pieces', []],
  ['one piece', [3]],
  ['small pieces', [1, 2, 3, 4_000, 5_000, 15_000]],
  ['large pieces', [20_000, 70_000, 16_384]],
  ['small and large pieces', [1, 1, 20_000, 1, 1, 50_000, 9_000, 9_000, 20_000]],
  ['many small pieces', Array.from({ length: 3_000 }, () => 100)],
])('a buffer returns the bytes of %s in order', (_, lengths) => {
  const pieces = lengths.map((length, index) => piece(length, index % 256))
  const buffer = filled(pieces)
  expect(Buffer.compare(buffer.bytes(), Buffer.concat(pieces))).toBe(0)
  expect(buffer.length).toBe(Buffer.concat(pieces).length)
})

test('a buffer does not copy a single piece or large pieces', () => {
  const only = piece(10, 1)
  expect(filled([only]).bytes()).toBe(only)
  const large = Array.from({ length: 10 }, () => piece(64 * KIB, 1))
  expect(filled(large).sizeWith(0)).toBe(640 * KIB)
})

test('a buffer of tiny pieces uses little more memory than their bytes', () => {
  const tiny = filled(Array.from({ length: 300 * KIB }, () => piece(1, 1)))
  expect(tiny.sizeWith(0)).toBeLessThan(400 * KIB)
})

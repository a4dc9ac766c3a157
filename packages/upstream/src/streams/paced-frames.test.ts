import { describe, expect, test } from 'vitest'

import { pacedFrames } from './paced-frames.ts'

const PREFACE = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n'

/** A frame of this size, with a mask if it is from a faulty server. */
function frame(length: number, isMasked = false): Buffer {
  const mask = isMasked ? 0x80 : 0
  const head =
    length < 126
      ? Buffer.from([0x81, mask | length])
      : length < 65_536
        ? Buffer.from([0x81, mask | 126, length >> 8, length & 0xff])
        : Buffer.from([
            0x81,
            mask | 127,
            0,
            0,
            0,
            0,
            0,
            length >> 16,
            (length >> 8) & 0xff,
            length & 0xff,
          ])
  // The content looks like heads of frames.
  const content = Buffer.alloc(length + (isMasked ? 4 : 0), Buffer.from([0x81, 0x00]))
  return Buffer.concat([head, content])
}

interface Passed {
  readonly pieces: readonly Buffer[]
  /** The costs of the pieces after the opening. */
  readonly costs: readonly number[]
}

async function pass(chunks: readonly Buffer[]): Promise<Passed> {
  const costs: number[] = []
  const pieces: Buffer[] = []
  const pace = (bytes: number, frames: number): undefined =>
    void costs.push(Math.max(bytes, 256 * frames))
  const options = { pace, maxFrames: 256, hasPreface: true }
  for await (const piece of pacedFrames(toStream(chunks), options)) pieces.push(piece)
  return { pieces, costs }
}

async function* toStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}

/** Cuts bytes into chunks of this size. */
function cut(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

describe('the bytes of a server', () => {
  const sizes = [0, 1, 125, 126, 1_000, 65_535, 65_536, 100_000, 0, 3]
  const all = Buffer.concat([
    Buffer.from(PREFACE),
    ...sizes.flatMap((size) => [frame(size), frame(size, true)]),
  ])

  test.each([1, 7, 1_000, 1_000_000])('are the same in chunks of %i bytes', async (size) => {
    const { pieces } = await pass(cut(all, size))
    expect(Buffer.concat(pieces).equals(all)).toBe(true)
  })

  test('count by their frames, wherever they are cut', async () => {
    const tiny = Buffer.concat(Array.from({ length: 1_000 }, () => frame(1)))
    const bytes = Buffer.concat([all, tiny])
    const { length } = bytes.subarray(PREFACE.length)
    for (const size of [7, 1_000, 1_000_000]) {
      const { costs } = await pass(cut(bytes, size))
      const cost = costs.reduce((sum, each) => sum + each, 0)
      // Each tiny frame costs 256 bytes, and large ones their size.
      expect(cost).toBeGreaterThan(1_000 * 256)
      expect(cost).toBeLessThan(length + 1_100 * 256)
    }
  })

  test('are passed on in pieces of 256 frames', async () => {
    const empty = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0)))
    const { pieces } = await pass([Buffer.concat([Buffer.from(PREFACE), empty])])
    expect(pieces.map(({ length }) => length)).toEqual([PREFACE.length, 512, 512, 512, 464])
  })

  test('wait for their pace, and for the event loop', async () => {
    const empty = Buffer.concat(Array.from({ length: 1_000 }, () => frame(0)))
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    let paused = 0
    const pace = (): Promise<void> | undefined => {
      paused += 1
      return paused === 2 ? new Promise((resolve) => void setTimeout(resolve, 50)) : undefined
    }
    const options = { pace, maxFrames: 256, hasPreface: true }
    const at: number[] = []
    const startedAt = performance.now()
    for await (const _ of pacedFrames(toStream([Buffer.from(PREFACE), empty]), options))
      at.push(turns)
    isOver = true
    expect(new Set(at.slice(1)).size).toBe(4)
    expect(performance.now() - startedAt).toBeGreaterThan(45)
  })
})

describe('the bytes of a message whose end is to come', () => {
  const head = (first: number, length: number): Buffer => Buffer.from([first, length])
  const [PART, MORE, LAST, WHOLE, PING] = [0x01, 0x00, 0x80, 0x81, 0x89]

  test.each<[string, readonly [number, number][], number]>([
    ['are none after a whole one', [[WHOLE, 20]], 0],
    ['are none after an empty one', [[WHOLE, 0]], 0],
    [
      'are those of its parts',
      [
        [PART, 20],
        [MORE, 30],
      ],
      50,
    ],
    [
      'are none after its last part',
      [
        [PART, 20],
        [MORE, 30],
        [LAST, 40],
      ],
      0,
    ],
    [
      'are none after an empty last part',
      [
        [PART, 20],
        [LAST, 0],
      ],
      0,
    ],
    [
      'leave out pings between parts',
      [
        [PART, 20],
        [PING, 100],
        [MORE, 30],
      ],
      50,
    ],
    [
      'begin anew with the next message',
      [
        [PART, 20],
        [LAST, 30],
        [PART, 5],
      ],
      5,
    ],
  ])('%s', async (_, frames, expected) => {
    const bytes = Buffer.concat(
      frames.flatMap(([first, length]) => [head(first, length), Buffer.alloc(length)]),
    )
    for (const size of [1, 7, bytes.length]) {
      let last = -1
      const pace = (_bytes: number, _frames: number, unfinished: number): undefined =>
        void (last = unfinished)
      const pieces = pacedFrames(toStream(cut(bytes, size)), { pace, maxFrames: 256 })
      for await (const _piece of pieces);
      expect(last).toBe(expected)
    }
  })
})

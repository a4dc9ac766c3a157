import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { limitedStreams, pacedStreams } from './paced-streams.ts'

const STREAM = { 'content-type': 'text/event-stream' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Reads streams as the SDK does: a second after the end of one it opens the next. Returns the times of all requests. */
async function follow(
  answer: (count: number) => Response,
  { ms, headers = {} }: { readonly ms: number; readonly headers?: Record<string, string> },
): Promise<number[]> {
  const begin = Date.now()
  const times: number[] = []
  const fetch = pacedStreams(() => {
    times.push(Date.now() - begin)
    return Promise.resolve(answer(times.length))
  })
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const { body, ok } = await fetch('http://a/', { method: 'GET', headers, signal: stop.signal })
      if (!ok) return
      // oxlint-disable-next-line no-unused-vars
      for await (const _ of body ?? []) continue
      await new Promise((resolve) => void setTimeout(resolve, 1_000))
    }
  }
  const ended = run().catch(() => undefined)
  await vi.advanceTimersByTimeAsync(ms)
  stop.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  await ended
  return times
}

describe('a stream of notifications', () => {
  test.each<[string, () => Response]>([
    ['JSON', () => Response.json({ ok: true })],
    ['a page', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['text without a type', () => new Response(new Blob(['ok']).stream())],
    ['nothing', () => new Response(null, { status: 204 })],
  ])('a stream that is %s counts as refused', async (_title, answer) => {
    const fetch = pacedStreams(() => Promise.resolve(answer()))
    expect((await fetch('http://a/', { method: 'GET' })).status).toBe(405)
    expect((await fetch('http://a/', { method: 'POST' })).status).toBe(answer().status)
  })

  test.each([
    ['at once', ''],
    ['after a comment', ': hello\n\n'],
    ['after blank lines', '\n\n\n'],
  ])('a stream that ends %s is opened less and less often', async (_title, text) => {
    const answer = () => new Response(text, { headers: STREAM })
    const times = await follow(answer, { ms: 3_600_000 })
    expect(times.slice(0, 4)).toEqual([0, 3_000, 8_000, 17_000])
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(301_000)
    expect(times.length).toBeLessThan(25)
  })

  test('a stream with an event is opened again as soon as the client wants', async () => {
    const answer = (count: number) =>
      new Response(count === 2 ? 'data: {}\n\n' : '', { headers: STREAM })
    // The pause of the third follows from the second, which had an event.
    expect((await follow(answer, { ms: 6_000 })).slice(0, 3)).toEqual([0, 3_000, 4_000])
  })

  test('a stream that is continued is opened without a pause', async () => {
    const answer = () => new Response('', { headers: STREAM })
    const headers = { 'last-event-id': '7' }
    expect(await follow(answer, { ms: 3_500, headers })).toEqual([0, 1_000, 2_000, 3_000])
  })
})

test('a server that wants its streams opened at once does not get more than ten a second', async () => {
  let opened = 0
  const fetch = limitedStreams(() => {
    opened += 1
    return Promise.resolve(new Response(''))
  })
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) await fetch('http://a/', { method: 'GET', signal: stop.signal })
  }
  const ended = run().catch(() => undefined)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(opened).toBeGreaterThan(100)
  expect(opened).toBeLessThan(160)
  await fetch('http://a/', { method: 'POST' })
  stop.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  await ended
})

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { HighlightMessage, HighlightRequest, HighlightThread } from './highlight.ts'
import { Highlighter, SlowCode } from './highlight.ts'

const request = (code: string, language = 'js') => ({ code, language })
const going = new AbortController().signal
const pieces = [{ name: 'keyword', text: 'let' }]

/** A thread that answers when the test says so. */
class FakeThread extends EventTarget implements HighlightThread {
  readonly requests: HighlightRequest[] = []
  isEnded = false

  postMessage(message: HighlightRequest): void {
    this.requests.push(message)
  }

  terminate(): void {
    this.isEnded = true
  }

  say(data: HighlightMessage): void {
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

let threads: FakeThread[]
let highlighter: Highlighter
beforeEach(() => {
  vi.useFakeTimers()
  threads = []
  highlighter = new Highlighter(() => {
    const thread = new FakeThread()
    threads.push(thread)
    return thread
  })
})
afterEach(() => void vi.useRealTimers())

/** Lets the promises before this one go on. */
const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

test('codes are read by one thread, one after another', async () => {
  const first = highlighter.highlight(request('a'), going)
  const second = highlighter.highlight(request('b'), going)
  await turn()
  expect(threads.map((thread) => thread.requests)).toEqual([[request('a')]])
  threads[0]?.say({ isLoaded: true })
  threads[0]?.say({ pieces })
  expect(await first).toEqual(pieces)
  await turn()
  expect(threads[0]?.requests).toEqual([request('a'), request('b')])
  threads[0]?.say({})
  expect(await second).toBeUndefined()
  expect(threads).toHaveLength(1)
})

test('code that takes too long stays plain, and the next one has a thread again', async () => {
  const slow = highlighter.highlight(request('slow'), going)
  const isSlow = expect(slow).rejects.toThrow(SlowCode)
  await turn()
  // The time limit does not count while a language is loaded.
  await vi.advanceTimersByTimeAsync(60_000)
  threads[0]?.say({ isLoaded: true })
  await vi.advanceTimersByTimeAsync(1_000)
  await isSlow
  expect(threads[0]?.isEnded).toBe(true)
  const next = highlighter.highlight(request('next'), going)
  await turn()
  threads[1]?.say({ isLoaded: true })
  threads[1]?.say({ pieces })
  expect(await next).toEqual(pieces)
})

test('code that has grown meanwhile, very long code and code without a language are not read', async () => {
  const waits = highlighter.highlight(request('a'), going)
  const stop = new AbortController()
  const older = highlighter.highlight(request('b'), stop.signal)
  stop.abort()
  await turn()
  threads[0]?.say({ pieces })
  await waits
  expect(await older).toBeUndefined()
  expect(await highlighter.highlight(request('x'.repeat(50_001)), going)).toBeUndefined()
  expect(await highlighter.highlight(request('a', ''), going)).toBeUndefined()
  expect(threads[0]?.requests).toEqual([request('a')])
})

test('a thread that cannot start leaves code plain', async () => {
  const plain = highlighter.highlight(request('a'), going)
  await turn()
  threads[0]?.dispatchEvent(new Event('error'))
  expect(await plain).toBeUndefined()
})

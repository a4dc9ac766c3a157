import type { GenerationId, TextDelta } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DeltaCoalescer, WINDOW_MS } from './delta-coalescer.ts'
import { GenerationText } from './generation-text.ts'

let emitted: string[]
let deltas: TextDelta[]
let text: GenerationText
let coalescer: DeltaCoalescer
beforeEach(() => {
  vi.useFakeTimers({ now: 0 })
  emitted = []
  deltas = []
  text = new GenerationText('session-0' as GenerationId)
  const emit = (delta: TextDelta): void => {
    deltas.push(delta)
    emitted.push(delta.text)
  }
  coalescer = new DeltaCoalescer(emit, () => Date.now())
})
afterEach(() => void vi.useRealTimers())

function write(content: string, kind: TextDelta['kind'] = 'text'): void {
  coalescer.push(text.append(kind, content))
}

test('the first text is sent at once, later text together at the end of the window', () => {
  write('a')
  expect(emitted).toEqual(['a'])
  write('b')
  vi.advanceTimersByTime(WINDOW_MS / 2)
  write('c')
  vi.advanceTimersByTime(WINDOW_MS / 2 - 1)
  expect(emitted).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(emitted).toEqual(['a', 'bc'])
})

test('no text waits longer than the window', () => {
  write('.')
  for (let time = 1; time <= 10 * WINDOW_MS; time++) {
    vi.advanceTimersByTime(1)
    write('.')
    expect(text.length - emitted.join('').length).toBeLessThanOrEqual(WINDOW_MS)
  }
  expect(emitted.length).toBeLessThanOrEqual(12)
})

test('text after a pause is sent at once', () => {
  write('a')
  vi.advanceTimersByTime(WINDOW_MS)
  write('b')
  expect(emitted).toEqual(['a', 'b'])
})

test('text and reasoning are sent in separate deltas', () => {
  write('a')
  write('b', 'reasoning')
  write('c', 'reasoning')
  write('d')
  vi.advanceTimersByTime(WINDOW_MS)
  expect(deltas).toMatchObject([
    { kind: 'text', text: 'a', offset: 0 },
    { kind: 'reasoning', text: 'bc', offset: 1 },
    { kind: 'text', text: 'd', offset: 3 },
  ])
})

test('a flush sends pending text once', () => {
  write('a')
  write('b')
  coalescer.flush()
  coalescer.flush()
  vi.advanceTimersByTime(10 * WINDOW_MS)
  expect(emitted).toEqual(['a', 'b'])
})

test('a disposed coalescer sends nothing', () => {
  write('a')
  write('b')
  coalescer[Symbol.dispose]()
  vi.advanceTimersByTime(10 * WINDOW_MS)
  expect(emitted).toEqual(['a'])
  expect(vi.getTimerCount()).toBe(0)
})

test('each delta begins at the end of the one before, with any pauses', () => {
  const pauses = [0, 3, 19, 20, 21, 0, 0, 7, 40, 1, 1, 1, 20, 0, 5]
  for (const [index, pause] of pauses.entries()) {
    write(`${index} `, index % 4 === 0 ? 'reasoning' : 'text')
    vi.advanceTimersByTime(pause)
  }
  coalescer.flush()
  let end = 0
  for (const { offset, text: content } of deltas) {
    expect(offset).toBe(end)
    end += content.length
  }
  expect(emitted.join('')).toBe(pauses.map((_, index) => `${index} `).join(''))
})

import type { TextDelta } from '@mcp-host/contracts'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TextPacer } from './text-pacer.ts'

let delivered: [offset: number, text: string][]
let listeners: number
let pacer: TextPacer
beforeEach(() => {
  vi.useFakeTimers()
  delivered = []
  pacer = new TextPacer(
    ({ offset, text }) => delivered.push([offset, text]),
    () => listeners,
  )
})
afterEach(() => void vi.useRealTimers())

const generation = generationId(newSessionId(), 1)
const write = (offset: number, text: string, kind: TextDelta['kind'] = 'text'): void =>
  pacer.push({ generation, offset, kind, text })

test('text with few listeners is delivered as it arrives', () => {
  listeners = 5
  write(0, 'a')
  write(1, 'b')
  expect(delivered).toEqual([
    [0, 'a'],
    [1, 'b'],
  ])
})

test('text with a thousand listeners is batched for 200 ms', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  write(2, 'c')
  vi.advanceTimersByTime(199)
  expect(delivered).toEqual([[0, 'a']])
  vi.advanceTimersByTime(1)
  expect(delivered).toEqual([
    [0, 'a'],
    [1, 'bc'],
  ])
})

test('only contiguous text is batched', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  write(5, 'after a gap')
  write(16, 'thought', 'reasoning')
  pacer.flush()
  expect(delivered).toEqual([
    [0, 'a'],
    [1, 'b'],
    [5, 'after a gap'],
    [16, 'thought'],
  ])
})

test('no text is delivered after disposal', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  pacer[Symbol.dispose]()
  vi.advanceTimersByTime(1_000)
  expect(delivered).toEqual([[0, 'a']])
})

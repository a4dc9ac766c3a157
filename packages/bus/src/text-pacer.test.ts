import type { TextDelta } from '@mcp-host/contracts'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TextPacer } from './text-pacer.ts'

let given: [offset: number, text: string][]
let listeners: number
let pacer: TextPacer
beforeEach(() => {
  vi.useFakeTimers()
  given = []
  pacer = new TextPacer(
    ({ offset, text }) => given.push([offset, text]),
    () => listeners,
  )
})
afterEach(() => void vi.useRealTimers())

const generation = generationId(newSessionId(), 1)
const write = (offset: number, text: string, kind: TextDelta['kind'] = 'text'): void =>
  pacer.push({ generation, offset, kind, text })

test('what few listen to is given as it comes', () => {
  listeners = 5
  write(0, 'a')
  write(1, 'b')
  expect(given).toEqual([
    [0, 'a'],
    [1, 'b'],
  ])
})

test('what a thousand listen to is joined for 200 ms', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  write(2, 'c')
  vi.advanceTimersByTime(199)
  expect(given).toEqual([[0, 'a']])
  vi.advanceTimersByTime(1)
  expect(given).toEqual([
    [0, 'a'],
    [1, 'bc'],
  ])
})

test('only text that goes on is joined', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  write(5, 'after a gap')
  write(16, 'thought', 'reasoning')
  pacer.flush()
  expect(given).toEqual([
    [0, 'a'],
    [1, 'b'],
    [5, 'after a gap'],
    [16, 'thought'],
  ])
})

test('nothing comes after its end', () => {
  listeners = 1_000
  write(0, 'a')
  write(1, 'b')
  pacer[Symbol.dispose]()
  vi.advanceTimersByTime(1_000)
  expect(given).toEqual([[0, 'a']])
})

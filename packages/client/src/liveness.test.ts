import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Liveness } from './liveness.ts'

/** What happened, in order. */
let seen: string[]
let page: { window: EventTarget; document: EventTarget & { hidden: boolean } }

beforeEach(() => {
  vi.useFakeTimers()
  seen = []
  page = {
    window: new EventTarget(),
    document: Object.assign(new EventTarget(), { hidden: false }),
  }
  for (const [name, value] of Object.entries(page)) vi.stubGlobal(name, value)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function open(): Liveness {
  return new Liveness({
    silenceMs: 30_000,
    ping: () => void seen.push('ping'),
    onDead: () => void seen.push('dead'),
    onAwake: () => void seen.push('awake'),
  })
}

test('a silent connection is pinged, and dead when nothing comes', () => {
  using liveness = open()
  liveness.begin()
  vi.advanceTimersByTime(20_000)
  expect(seen).toEqual(['ping'])
  liveness.heard()
  vi.advanceTimersByTime(20_000)
  expect(seen).toEqual(['ping', 'ping'])
  vi.advanceTimersByTime(10_000)
  expect(seen).toEqual(['ping', 'ping', 'dead'])
})

test('a connection on which frames come is not pinged', () => {
  using liveness = open()
  liveness.begin()
  for (let second = 0; second < 60; second += 1) {
    vi.advanceTimersByTime(1_000)
    liveness.heard()
  }
  expect(seen).toEqual([])
})

test('after a sleep the connection is tested at once, and soon found dead', () => {
  using liveness = open()
  liveness.begin()
  page.document.hidden = true
  page.document.dispatchEvent(new Event('visibilitychange'))
  expect(seen).toEqual([])
  page.document.hidden = false
  page.document.dispatchEvent(new Event('visibilitychange'))
  vi.advanceTimersByTime(2_000)
  expect(seen).toEqual(['ping', 'dead'])
})

test('without a connection the return of the network is told, until the end', () => {
  const liveness = open()
  liveness.begin()
  liveness.pause()
  page.window.dispatchEvent(new Event('online'))
  expect(seen).toEqual(['awake'])
  liveness[Symbol.dispose]()
  page.window.dispatchEvent(new Event('online'))
  vi.advanceTimersByTime(60_000)
  expect(seen).toEqual(['awake'])
})

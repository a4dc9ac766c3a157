import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { testIntake } from '../../test/intake.ts'
import { FloodGate } from './flood-gate.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** Admits one notification and one request per second, three at once. */
function open() {
  const { intake, leftOut } = testIntake({ noticesPerSecond: 1, requestsPerSecond: 1 })
  const delivered: JSONRPCMessage[] = []
  const sent: JSONRPCMessage[] = []
  const gate = new FloodGate({
    intake,
    deliver: (message) => void delivered.push(message),
    send: async (message) => void sent.push(message),
  })
  const notify = (method: string, params: object = {}): void =>
    gate.receive({ jsonrpc: '2.0', method, params } as JSONRPCMessage)
  const count = (method: string): number =>
    delivered.filter((message) => 'method' in message && message.method === method).length
  return { gate, intake, leftOut, delivered, sent, notify, count }
}

test('log messages beyond the rate are dropped and counted', () => {
  const { notify, count, leftOut, intake } = open()
  for (let index = 0; index < 100; index += 1) notify('notifications/message', { data: index })
  expect(count('notifications/message')).toBe(3)
  expect(leftOut).toMatchObject({ notices: 97, requests: 0 })
  expect(intake.isFlooding).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect(intake.isFlooding).toBe(false)
  notify('notifications/message')
  expect(count('notifications/message')).toBe(4)
})

test.each([
  [
    'progress report',
    'notifications/progress',
    (progress: number) => ({ progressToken: 1, progress }),
  ],
  ['change of a resource', 'notifications/resources/updated', (at: number) => ({ uri: 'a:b', at })],
  ['change of a list', 'notifications/tools/list_changed', (at: number) => ({ at })],
])('the latest %s beyond the rate is delivered later', (_title, method, paramsOf) => {
  const { notify, count, delivered } = open()
  for (let index = 0; index < 100; index += 1) notify(method, paramsOf(index))
  expect(count(method)).toBe(3)
  vi.advanceTimersByTime(1_100)
  expect(count(method)).toBe(4)
  expect(delivered.at(-1)).toMatchObject({ params: paramsOf(99) })
})

test('the latest progress of a request is delivered before its answer', () => {
  const { gate, notify, delivered } = open()
  for (let progress = 0; progress < 100; progress += 1) {
    notify('notifications/progress', { progressToken: 1, progress })
  }
  gate.releaseProgress(2)
  expect(delivered).toHaveLength(3)
  gate.releaseProgress(1)
  expect(delivered.slice(3)).toMatchObject([{ params: { progress: 99 } }])
  vi.advanceTimersByTime(10_000)
  expect(delivered).toHaveLength(4)
})

test('delayed notifications are bounded in number and size', () => {
  const { gate, notify, count } = open()
  const method = 'notifications/resources/updated'
  for (let index = 0; index < 3_000; index += 1) notify(method, { uri: `a:${index}` })
  notify('notifications/progress', { progressToken: 'x'.repeat(5_000), progress: 1 })
  vi.advanceTimersByTime(10_000_000)
  expect(count(method)).toBe(1_003)
  expect(count('notifications/progress')).toBe(0)
  gate[Symbol.dispose]()
})

test('requests beyond the rate are refused, one refusal at a time', async () => {
  const { gate, count, sent, leftOut } = open()
  for (let id = 0; id < 100; id += 1) gate.receive({ jsonrpc: '2.0', id, method: 'ping' })
  expect(count('ping')).toBe(3)
  expect(leftOut.requests).toBe(97)
  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 3, error: expect.objectContaining({ code: -32_000 }) },
  ])
  await Promise.resolve()
  await Promise.resolve()
  gate.receive({ jsonrpc: '2.0', id: 200, method: 'ping' })
  expect(sent).toHaveLength(2)
})

test('a flood of notifications does not delay requests', () => {
  const { gate, notify, count } = open()
  for (let index = 0; index < 100; index += 1) notify('notifications/message')
  gate.receive({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage' })
  expect(count('sampling/createMessage')).toBe(1)
})

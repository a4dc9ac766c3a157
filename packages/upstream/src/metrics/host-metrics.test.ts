import { beforeEach, expect, test } from 'vitest'

import { MetricsRegistry } from './host-metrics.ts'

let metrics: MetricsRegistry

beforeEach(() => {
  metrics = new MetricsRegistry()
})

function call(server: string, tool: string): void {
  const meter = metrics.meter(server, tool)
  meter.started()
  meter.ended('success', 1)
}

test('calls are counted by server and tool, and in total for each server', () => {
  call('web', 'search')
  call('web', 'search')
  call('web', 'fetch')
  call('files', 'search')
  const { servers } = metrics.snapshot()
  expect(Object.keys(servers)).toEqual(['web', 'files'])
  expect(servers['web']?.calls.count).toBe(3)
  expect(servers['web']?.tools['search']?.count).toBe(2)
  expect(servers['web']?.tools['fetch']?.count).toBe(1)
  expect(servers['files']?.tools['search']?.count).toBe(1)
})

test('a meter is created once per tool', () => {
  const meter = metrics.meter('web', 'search')
  expect(metrics.meter('web', 'search')).toBe(meter)
  meter.started()
  expect(metrics.snapshot().servers['web']?.tools['search']?.inFlight).toBe(1)
  expect(metrics.snapshot().servers['web']?.calls.inFlight).toBe(1)
})

test('a forgotten server has no metrics, and starts at 0 when it is added again', () => {
  const old = metrics.meter('web', 'search')
  call('web', 'search')
  old.started()
  metrics.forget('web')
  expect(metrics.snapshot()).toEqual({ servers: {} })
  call('web', 'search')
  old.ended('success', 1)
  expect(metrics.snapshot().servers['web']?.calls).toMatchObject({ count: 1, inFlight: 0 })
})

test('calls of tools beyond the first 1,000 of a server count only for the server', () => {
  for (let i = 0; i < 1_500; i += 1) call('web', `tool ${i}`)
  call('web', 'tool 0')
  const { calls, tools } = metrics.snapshot().servers['web'] ?? {}
  expect(Object.keys(tools ?? {})).toHaveLength(1_000)
  expect(tools?.['tool 0']?.count).toBe(2)
  expect(calls).toMatchObject({ count: 1_501, inFlight: 0 })
})

test('metrics accept any name', () => {
  call('__proto__', '__proto__')
  const { servers } = metrics.snapshot()
  expect(Object.keys(servers)).toEqual(['__proto__'])
  expect(JSON.parse(JSON.stringify(servers))['__proto__'].tools['__proto__'].count).toBe(1)
})

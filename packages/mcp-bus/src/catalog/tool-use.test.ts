import type { CallMetrics } from '@mcp-host/upstream'
import { expect, test } from 'vitest'
import { withToolUse } from './tool-use.ts'

const figures = { calls: 0, errors: 0, inFlight: 0 }

/** Metrics of one tool with only the fields that withToolUse reads. */
const metrics = (lastUsedAt: number | undefined, error = 0): CallMetrics =>
  ({ count: 3, error, latencyMs: { mean: 1.005 }, lastUsedAt }) as CallMetrics

test('each used tool has its calls, failures, average latency and last use', () => {
  const tools = {
    a: metrics(1),
    b: metrics(2, 1),
    c: metrics(undefined),
    'prompts/get': metrics(3),
  }
  const { s, unused } = withToolUse({ s: figures, unused: figures }, { servers: { s: { tools } } })
  expect(unused).toEqual(figures)
  expect(Object.entries(s?.toolUse ?? {})).toEqual([
    ['b', { calls: 3, failures: 1, averageMs: 1, lastUsedAt: 2 }],
    ['a', { calls: 3, failures: 0, averageMs: 1, lastUsedAt: 1 }],
  ])
})

test('only the tools that were used last are listed when there are many', () => {
  const names = Array.from({ length: 150 }, (_, index) => `t${index}`)
  const tools = Object.fromEntries(names.map((name, index) => [name, metrics(index)]))
  const { s } = withToolUse({ s: figures }, { servers: { s: { tools } } })
  const listed = Object.keys(s?.toolUse ?? {})
  expect([listed.length, listed[0], listed.at(-1)]).toEqual([100, 't149', 't50'])
})

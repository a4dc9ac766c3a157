import type { CallMetrics } from 'mcp-host'
import { expect, test } from 'vitest'
import { toolUse } from './tool-use.ts'

/** Only what is looked at. */
const metrics = (lastUsedAt: number, error = 0): CallMetrics =>
  ({ count: 3, error, latencyMs: { mean: 1.005 }, lastUsedAt }) as CallMetrics

test('of each tool is told how often, how long, how well and when it was used', () => {
  const tools = { a: metrics(1), b: metrics(2, 1), 'prompts/get': metrics(3) }
  const unused = { count: 0, latencyMs: { mean: 0 } } as unknown as CallMetrics
  expect(Object.entries(toolUse({ tools: { ...tools, c: unused } }, ['a', 'b', 'c', 'd']))).toEqual(
    [
      ['b', { calls: 3, failures: 1, averageMs: 1, lastUsedAt: 2 }],
      ['a', { calls: 3, failures: 0, averageMs: 1, lastUsedAt: 1 }],
    ],
  )
})

test('of many tools those used last are told', () => {
  const names = Array.from({ length: 150 }, (_, index) => `t${index}`)
  const tools = Object.fromEntries(names.map((name, index) => [name, metrics(index)]))
  const told = Object.keys(toolUse({ tools }, names))
  expect([told.length, told[0], told.at(-1)]).toEqual([100, 't149', 't50'])
})

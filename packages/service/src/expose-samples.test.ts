import { Counter, Gauge, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { exposeSamples } from './expose-samples.ts'

const about = { name: 'things', help: 'Things' }

test('a scrape has what is read then, and nothing of the scrape before', async () => {
  const registry = new Registry()
  let things: [{ color: string }, number][] = [[{ color: 'red' }, 2]]
  exposeSamples(registry, Counter, { ...about, labelNames: ['color'], read: () => things })
  expect(await registry.metrics()).toContain('things{color="red"} 2')
  things = [[{ color: 'blue' }, 1]]
  const text = await registry.metrics()
  expect(text).toContain('things{color="blue"} 1')
  expect(text).not.toContain('red')
})

test.each([
  ['that nobody can read', () => Promise.reject(new Error('no broker'))],
  ['without samples', () => []],
])('a metric %s is declared and has no value', async (_, read) => {
  const registry = new Registry()
  exposeSamples(registry, Gauge, { ...about, read })
  expect((await registry.metrics()).trim()).toBe('# HELP things Things\n# TYPE things gauge')
})

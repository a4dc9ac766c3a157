// The metrics of a running host are those of the reference, and those that dashboards and rules read.
import { setTimeout as delay } from 'node:timers/promises'
import type { Stack } from '@mcp-host/testkit'
import { ChatSocket, script, startStack } from '@mcp-host/testkit'
import { SERVICES } from '@mcp-host/tools/host'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dashboards } from '../tools/dashboards/index.ts'
import { declaredMetrics } from '../tools/docs/metrics-reference.ts'
import { metricOfSample, metricsOf } from './promql.ts'
import { readRules } from './rule-files.ts'

interface Exposed {
  readonly type: string
  readonly help: string
  readonly labels: Set<string>
}

let stack: Stack
/** The metrics of each service. */
let exposed: Map<string, Map<string, Exposed>>
beforeAll(async () => {
  stack = await startStack({
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
    env: { AUDIT: 'async', STORE_DIR: import.meta.dirname },
  })
  using chat = await ChatSocket.open({ url: stack.url })
  chat.say(script({ calls: [{ name: 'test__echo', arguments: {} }] }, { text: 'done' }))
  await chat.turnsDone()
  await post({ jsonrpc: '2.0', id: 1, method: 'made-up/method' })
  await fetch(`${stack.url}/made-up/route`)
  await delay(500)
  exposed = new Map(
    await Promise.all(
      SERVICES.map(async (name) => [name, await scrape(stack.urlOf(name))] as const),
    ),
  )
})
afterAll(() => stack[Symbol.asyncDispose]())

function post(message: object): Promise<Response> {
  const accept = 'application/json, text/event-stream'
  return fetch(`${stack.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify(message),
  })
}

async function scrape(url: string): Promise<Map<string, Exposed>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = new Map<string, Exposed>()
  for (const [, name = '', help = '', type = ''] of text.matchAll(
    /^# HELP (\w+) (.*)\n# TYPE \1 (\w+)$/gm,
  )) {
    found.set(name, { type, help, labels: new Set() })
  }
  const names = new Set(found.keys())
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const metric = found.get(metricOfSample(sample, names) ?? '')
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) metric?.labels.add(label)
  }
  return found
}

test('a running host has exactly the metrics of the reference, with their types, texts and labels', () => {
  const found = new Map<string, Exposed>()
  for (const metrics of exposed.values()) {
    for (const [name, metric] of metrics) if (name.startsWith('mcp_host_')) found.set(name, metric)
  }
  const declared = declaredMetrics()
  expect([...found.keys()].toSorted()).toEqual(declared.map(({ name }) => name))
  for (const { name, type, help, labels } of declared) {
    const { labels: used = new Set<string>(), ...about } = found.get(name) ?? {}
    expect({ name, ...about }).toEqual({ name, type, help })
    const known = [...labels, 'service', ...(type === 'histogram' ? ['le'] : [])]
    expect({ name, unknown: [...used].filter((label) => !known.includes(label)) }).toEqual({
      name,
      unknown: [],
    })
  }
})

test('each service has the metrics that the reference says', () => {
  for (const { name, place } of declaredMetrics()) {
    const owners = SERVICES.filter((service) => exposed.get(service)?.has(name) === true)
    if (place.startsWith('services/'))
      expect({ name, owners }).toEqual({ name, owners: [place.slice(9)] })
    else expect({ name, isThere: owners.length > 0 }).toEqual({ name, isThere: true })
  }
})

test('every metric of a dashboard or a rule is one of a running host, or the result of a rule', () => {
  const rules = readRules()
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
  const queries = [
    ...rules.map(({ expr }) => expr),
    ...Object.values(dashboards).flatMap(({ rows }) =>
      rows.flatMap(({ panels }) =>
        panels.flatMap((panel) =>
          panel.queries.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
        ),
      ),
    ),
  ]
  expect(queries.length).toBeGreaterThan(90)
  const names = new Set(Array.from(exposed.values(), (metrics) => [...metrics.keys()]).flat())
  const unknown = queries
    .flatMap(metricsOf)
    .filter((name) => !recorded.has(name) && metricOfSample(name, names) === undefined)
  expect(unknown).toEqual([])
})

test('unknown methods and routes share one label', async () => {
  const text = await (await fetch(`${stack.url}/metrics`)).text()
  const counted = (entrance: string): string[] =>
    Array.from(
      text.matchAll(/^mcp_host_request_seconds_count\{(.*)\} \d+$/gm),
      ([, labels = '']) => labels,
    ).filter((labels) => labels.includes(`entrance="${entrance}",method="other"`))
  expect(counted('mcp')).toHaveLength(1)
  expect(counted('http')).toHaveLength(1)
  expect(text).toContain('entrance="socket",method="message",outcome="ok"')
  expect(text).not.toContain('made-up')
})

import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { catalogKey } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { capabilities } from './capabilities.ts'

const present: CatalogEntry = { kind: 'supervisor', id: 's', startedAt: 0, servers: {} }
const model: CatalogEntry = { kind: 'model', provider: 'demo', model: 'demo' }

function summary(...entries: CatalogEntry[]): Record<string, unknown> {
  const all = new Map(entries.map((entry) => [catalogKey(entry), entry]))
  return capabilities({
    entries: all,
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }).summary()
}

function server(name: string, state: 'ready' | 'starting' | 'unavailable'): CatalogEntry {
  return { kind: 'server', server: name as ServerName, supervisor: 's', state, tools: [] }
}

test('health is degraded while a server is not ready', () => {
  expect(summary(present, model, server('a', 'ready'))).not.toHaveProperty('status')
  for (const state of ['starting', 'unavailable'] as const) {
    const degraded = summary(present, model, server('a', 'ready'), server('b', state))
    expect(degraded).toMatchObject({ status: 'degraded' })
  }
})

test('health is degraded while no model answers', () => {
  expect(summary(present, server('a', 'ready'))).toMatchObject({ status: 'degraded' })
})

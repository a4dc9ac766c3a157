import type { CatalogEntry, ServerEntry } from '@mcp-host/contracts'
import { catalogKey, ServerName } from '@mcp-host/contracts'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { exposeServers } from './server-metrics.ts'

const supervisor = (id: string, configured: string[], healthScore: number): CatalogEntry => ({
  kind: 'supervisor',
  id,
  startedAt: 0,
  servers: { files: { calls: 0, errors: 0, inFlight: 0, healthScore } },
  configured,
})
const server = (at: string, state: ServerEntry['state'], restarts: number): CatalogEntry => ({
  kind: 'server',
  server: ServerName.parse('files'),
  supervisor: at,
  state,
  restarts,
  tools: [],
})

async function scrape(...entries: CatalogEntry[]): Promise<string> {
  const registry = new Registry()
  exposeServers(registry, { entries: new Map(entries.map((each) => [catalogKey(each), each])) })
  return registry.metrics()
}

test('a server is ready where any supervisor has it ready, and restarts add up', async () => {
  const text = await scrape(
    supervisor('a', ['files'], 0.5),
    supervisor('b', ['files'], 1),
    server('a', 'ready', 2),
    server('b', 'unavailable', 3),
  )
  expect(text).toContain('mcp_host_server_ready{server="files"} 1')
  expect(text).toContain('mcp_host_server_health_score{server="files"} 0.5')
  expect(text).toContain('mcp_host_server_restarts_total{server="files"} 5')
})

test('a server that is not ready, and one that nobody has reported, count as 0', async () => {
  const text = await scrape(supervisor('a', ['files', 'mail'], 1), server('a', 'starting', 0))
  expect(text).toContain('mcp_host_server_ready{server="files"} 0')
  expect(text).toContain('mcp_host_server_health_score{server="files"} 0')
  expect(text).toContain('mcp_host_server_ready{server="mail"} 0')
})

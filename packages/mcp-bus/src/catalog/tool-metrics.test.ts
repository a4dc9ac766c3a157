import { MetricsRegistry } from '@mcp-host/upstream'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { exposeToolMetrics } from './tool-metrics.ts'

let source: MetricsRegistry
let registry: Registry
beforeEach(() => {
  source = new MetricsRegistry()
  registry = new Registry()
  exposeToolMetrics(registry, source)
})

function count(tool: string, outcome: 'success' | 'error' | 'refused', ms: number): void {
  const meter = source.meter('files', tool)
  meter.started()
  meter.ended(outcome, ms)
}

test('each tool has counters of its requests by outcome and a gauge of those in flight', async () => {
  count('read', 'success', 2)
  count('read', 'success', 2)
  count('read', 'error', 2)
  source.meter('files', 'write').started()
  const text = await registry.metrics()
  const read = 'server="files",tool="read"'
  expect(text).toContain(`mcp_host_server_requests_total{${read},outcome="success"} 2`)
  expect(text).toContain(`mcp_host_server_requests_total{${read},outcome="error"} 1`)
  expect(text).toContain(`mcp_host_server_requests_in_flight{${read}} 0`)
  expect(text).toContain('mcp_host_server_requests_in_flight{server="files",tool="write"} 1')
})

test('each tool has a histogram of its latencies', async () => {
  count('read', 'success', 2)
  count('read', 'error', 600)
  count('read', 'refused', 0)
  const text = await registry.metrics()
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('mcp_host_server_request_seconds'))
  const value = (part: string): number =>
    Number(
      lines
        .find((line) => line.includes(part))
        ?.split(' ')
        .at(-1),
    )
  expect(text).toContain('# TYPE mcp_host_server_request_seconds histogram')
  expect(value('le="0.001"')).toBe(0)
  expect(value('le="0.0047"')).toBe(1)
  expect(value('le="1"')).toBe(2)
  expect(value('le="+Inf"')).toBe(2)
  expect(value('_count')).toBe(2)
  expect(value('_sum')).toBeCloseTo(0.602)
})

test('a second scrape returns the same values, and a removed server has no metrics', async () => {
  count('read', 'success', 2)
  const first = await registry.metrics()
  expect(await registry.metrics()).toBe(first)
  source.forget('files')
  expect(await registry.metrics()).not.toContain('files')
})

test('retries, circuit changes and requests of instances are counted by server', async () => {
  const counters = source.counters('files')
  counters.retries = 3
  counters.circuits.open = 2
  counters.circuits['half-open'] = 1
  counters.instances[1] = 4
  const breakers = { circuits: { open: 2, 'half-open': 1 } }
  source.addCircuits('files', breakers)
  const text = await registry.metrics()
  expect(text).toContain('mcp_host_server_circuits{server="files",state="open"} 2')
  expect(text).toContain('mcp_host_server_circuits{server="files",state="half-open"} 1')
  expect(text).toContain('mcp_host_server_retries_total{server="files"} 3')
  expect(text).toContain('mcp_host_server_circuit_changes_total{server="files",to="open"} 2')
  expect(text).toContain('mcp_host_server_circuit_changes_total{server="files",to="half-open"} 1')
  expect(text).toContain('mcp_host_server_instance_requests_total{server="files",instance="2"} 4')
})

test('data of a server beyond a limit is counted by kind', async () => {
  source.counters('files').leftOut.lines += 3
  const text = await registry.metrics()
  expect(text).toContain('mcp_host_server_left_out_total{server="files",what="lines"} 3')
  expect(text).toContain('mcp_host_server_left_out_total{server="files",what="notices"} 0')
})

test('tokens are counted by how they are got, and how that ended', async () => {
  source.counters('files').tokens['oauth'] = { ok: 2, needed: 1, failed: 0 }
  const text = await registry.metrics()
  const tokens = 'mcp_host_server_token_requests_total{server="files",strategy="oauth"'
  expect(text).toContain(`${tokens},outcome="ok"} 2`)
  expect(text).toContain(`${tokens},outcome="needed"} 1`)
})

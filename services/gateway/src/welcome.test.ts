import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { welcome } from './welcome.ts'

const model: CatalogEntry = { kind: 'model', provider: 'demo', model: 'demo-1' }
const tools = [{ name: 'echo', inputSchema: {} }]
const server = (name: string, state: 'ready' | 'starting' | 'unavailable'): CatalogEntry => ({
  kind: 'server',
  server: name as ServerName,
  supervisor: 's',
  state,
  tools: state === 'ready' ? tools : [],
})

function present(...names: string[]): CatalogEntry {
  const figures = { calls: 0, errors: 0, inFlight: 0 }
  const servers = Object.fromEntries(names.map((name) => [name, figures]))
  return { kind: 'supervisor', id: 's', startedAt: 0, servers }
}

test('the welcome counts configured servers and names those that are starting or unavailable', () => {
  const entries = [
    model,
    present('a', 'b', 'c', 'unseen'),
    server('a', 'ready'),
    server('b', 'starting'),
    server('c', 'unavailable'),
  ]
  expect(welcome(entries)).toBe(
    'Welcome to mcp-host. demo-1 answers. 1 tool is ready, of 1 of 4 MCP servers; starting: b, unseen; unavailable: c.',
  )
})

test('the welcome neither names nor counts hidden servers', () => {
  const entries = [model, present('a', 'b'), server('a', 'ready'), server('b', 'unavailable')]
  expect(welcome(entries, (name) => name === 'b')).toContain('1 tool is ready, of 1 MCP server.')
})

test('the welcome is short when all servers are ready', () => {
  expect(welcome([model, present('a'), server('a', 'ready')])).toBe(
    'Welcome to mcp-host. demo-1 answers. 1 tool is ready, of 1 MCP server.',
  )
})

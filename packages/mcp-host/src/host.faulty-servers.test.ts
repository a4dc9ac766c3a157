// In a file that is not read strictly, only the servers with faults cannot be used.
import { expect, test } from 'vitest'

import { ConfigurationError, parseMcpConfig } from '@mcp-host/mcp-json'
import { server } from '@mcp-host/mcp-json/testing'
import { openWorkspace } from '@mcp-host/mcp-testkit'
import { MCPHost } from './host.ts'

const good = { command: 'node' }
const read = (servers: object | string, strict = false) => {
  const text = typeof servers === 'string' ? servers : JSON.stringify({ servers })
  const { servers: usable, faulty = {} } = parseMcpConfig(text, { file: '/a/mcp.json', strict })
  const faults = Object.entries(faulty).map(([name, found]) => [
    name,
    found.map(({ path }) => path),
  ])
  return { usable: Object.keys(usable), faulty: Object.fromEntries(faults) as object }
}

test.each<[string, object, string]>([
  ['a variable that is not set', { command: 'x', env: { KEY: '${NONE}' } }, '.env.KEY'],
  ['a field of a wrong type', { command: 7 }, '.command'],
  ['neither a program nor an address', {}, '.command'],
  ['an address that is none', { url: 'nowhere' }, '.url'],
  ['an unknown type', { type: 'pipe', command: 'x' }, '.type'],
  ['a file with variables that does not exist', { command: 'x', envFile: 'none' }, '.envFile'],
  [
    'a dependency that does not exist',
    { command: 'x', dependencies: ['none'] },
    '.dependencies[0]',
  ],
])('a server with %s is left out, and the others are read', (_, bad, path) => {
  expect(read({ one: good, bad, other: good })).toEqual({
    usable: ['one', 'other'],
    faulty: { bad: [`servers.bad${path}`] },
  })
  expect(() => read({ one: good, bad, other: good }, true)).toThrow(ConfigurationError)
})

test('servers that depend on a faulty one are faulty, too', () => {
  const servers = {
    end: { ...good, dependencies: ['middle'] },
    middle: { ...good, dependencies: ['bad'] },
    bad: {},
    free: good,
  }
  expect(read(servers)).toEqual({
    usable: ['free'],
    faulty: {
      bad: ['servers.bad.command'],
      middle: ['servers.middle.dependencies[0]'],
      end: ['servers.end.dependencies[0]'],
    },
  })
})

test('a name that is there twice means no server', () => {
  const text =
    '{ "servers": { "a": { "command": "x" }, "b": { "command": "x" }, "a": { "command": "y" } } }'
  expect(read(text)).toEqual({ usable: ['b'], faulty: { a: ['servers.a'] } })
})

test('faults of a disabled server do not matter', () => {
  const text =
    '{ "servers": { "off": { "disabled": true, "env": { "A": "", "A": "" } }, "on": { "command": "x" } } }'
  expect(read(text)).toEqual({ usable: ['on'], faulty: {} })
})

test.each([
  ['broken syntax', '{ "servers": { "a": { "command": "x" } '],
  ['no servers', '{ "inputs": [] }'],
  ['servers that are a text', '{ "servers": "a" }'],
])('a file with %s is refused', (_, text) => {
  expect(() => read(text)).toThrow(ConfigurationError)
})

test('an object has the faults of its servers without places', () => {
  const { faulty } = parseMcpConfig({ servers: { one: good, bad: {} } })
  expect(faulty).toEqual({
    bad: [{ path: 'servers.bad.command', message: 'is missing', remedy: expect.any(String) }],
  })
})

test('under best-effort a host starts without the faulty servers, and reports them', async () => {
  const workspace = await openWorkspace()
  const file = await workspace.write('mcp.json', server('"url": "nowhere"'))
  const warnings: string[] = []
  await using host = new MCPHost({ startPolicy: 'best-effort' })
  host.on('config-warning', ({ warning }) => warnings.push(`${warning.path} ${warning.message}`))
  await host.initialize(file)
  expect(host.getServers()).toEqual([])
  expect(warnings).toEqual(['servers.web.url is not a valid URL'])
})

test('under all-or-nothing a host does not start with a faulty server, but may be initialized again', async () => {
  const workspace = await openWorkspace()
  const file = await workspace.write('mcp.json', server('"url": "nowhere"'))
  await using host = new MCPHost()
  await expect(host.initialize(file)).rejects.toThrow(ConfigurationError)
  await host.initialize({ servers: {} })
})

test('a configuration that was read before keeps the faults of its servers', async () => {
  const before = parseMcpConfig(JSON.stringify({ servers: { bad: { command: 7 } } }))
  await using host = new MCPHost({ startPolicy: 'all-or-nothing' })
  await expect(host.initialize(before)).rejects.toThrow(ConfigurationError)
})

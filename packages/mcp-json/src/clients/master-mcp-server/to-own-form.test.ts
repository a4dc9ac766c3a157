import { expect, test } from 'vitest'

import { BYPASS, FILE, lines, readMaster, server } from '../../../test/read-master.ts'
import { openWorkspace } from '@mcp-host/mcp-testkit'
import { type ConfigFault, ConfigurationError } from '../../document/configuration-error.ts'
import { FaultList } from '../../document/fault-list.ts'
import { parseYaml } from '../../document/parse-yaml.ts'
import { loadMcpConfig } from '../../load-mcp-config.ts'
import { parseMcpConfig } from '../../parse-mcp-config.ts'
import { toOwnForm } from './to-own-form.ts'

const http = { type: 'http', headers: {} }

test('settings of the whole host are ignored with a warning that names those of this one', () => {
  const warnings: ConfigFault[] = []
  const text = lines(
    'hosting: { port: 3000 }',
    'logging: { level: info }',
    'security: { audit: true }',
    'oauth_delegation: { enabled: true }',
    'colour: red',
    'servers: []',
  )
  parseMcpConfig(text, { file: FILE, onWarning: (warning) => warnings.push(warning) })
  expect(warnings).toMatchObject([
    { line: 1, column: 10, path: 'hosting', remedy: expect.stringContaining('PUBLIC_URL') },
    { line: 2, path: 'logging', remedy: expect.stringContaining('LOG_LEVEL') },
    { line: 3, path: 'security', remedy: expect.stringContaining('TOKEN_ENC_KEY') },
    { line: 4, path: 'oauth_delegation', remedy: expect.stringContaining('auth_config') },
    { line: 5, column: 1, path: 'colour', message: 'is not a known field and is ignored' },
  ])
})

test('a duplicate key is a fault of its server', () => {
  const text = lines(
    'servers:',
    `  - { id: a, url: a.js, ${BYPASS} }`,
    `  - { id: b, url: b.js, url: c.js, ${BYPASS} }`,
  )
  const { servers, faults } = readMaster(text)
  expect(Object.keys(servers)).toEqual(['a'])
  expect(faults).toEqual(['3:25 servers[1].url: is there twice'])
})

/** A file with every field that is translated. */
const whole = (): Record<string, unknown> => ({
  hosting: {},
  master_oauth: { token_endpoint: 'https://l.example', client_id: 'x', scopes: [], issuer: 'x' },
  routing: {
    circuitBreaker: { failureThreshold: 1, constructor: 1 },
    loadBalancer: { strategy: 'health' },
    constructor: 1,
  },
  servers: [
    {
      id: 'a',
      type: 'npm',
      package: 'x',
      version: '1',
      auth_strategy: 'bypass_auth',
      config: { args: [], environment: {} },
    },
    { id: 'b', url: 'https://b.example', auth_strategy: 'master_oauth', config: { port: 1 } },
    {
      id: 'c',
      url: 'https://c.example',
      auth_strategy: 'proxy_oauth',
      auth_config: {
        provider: 'github',
        token_endpoint: 'https://l.example',
        client_id: 'x',
        scopes: ['a'],
      },
    },
  ],
})

/** The paths of all values. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = Object.entries(typeof value === 'object' ? Object(value) : {})
  return [path, ...inner.flatMap(([key, each]) => pathsOf(each, [...path, key]))]
}

test.each([{ toString: 1 }, [[]], 7, true, null, '', 'enc:gcm:x', '__proto__'])(
  'any field may be %j, which is at most a fault',
  (value) => {
    for (const path of pathsOf(whole()).slice(1)) {
      const source = whole()
      const parent = path.slice(0, -1).reduce<object>((each, key) => Reflect.get(each, key), source)
      Reflect.set(parent, path.at(-1) ?? '', value)
      try {
        parseMcpConfig(JSON.stringify(source), { reservedNames: [] })
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigurationError)
      }
    }
  },
)

test('an input of an entry is asked', async () => {
  const workspace = await openWorkspace()
  const text = server(`url: a.js, ${BYPASS}, config: { args: ["\${input:key}"] }`)
  const file = await workspace.write('config.yaml', text)
  const { servers } = await loadMcpConfig(file, {}, { askInput: ({ id }) => `the ${id}` })
  expect(servers['a']).toMatchObject({ args: ['a.js', 'the key'] })
})

test('the same in JSON, as a text and as an object', () => {
  const source = {
    hosting: { platform: 'node', port: 3005, base_url: 'http://localhost:3005' },
    servers: [
      {
        id: 'test',
        type: 'local',
        url: 'http://localhost:3006',
        auth_strategy: 'bypass_auth',
        config: { environment: {}, args: [] },
      },
    ],
  }
  const expected = { test: { ...http, url: 'http://localhost:3006' } }
  expect(parseMcpConfig(source).servers).toMatchObject(expected)
  expect(parseMcpConfig(JSON.stringify(source)).servers).toMatchObject(expected)
})

test.each([
  ['an entry with auth_strategy', 'servers: [{ id: a, auth_strategy: bypass_auth }]'],
  ['an entry with config', 'servers: [{ id: a, config: {} }]'],
  ['master_oauth', 'master_oauth: {}'],
  ['hosting', 'hosting: {}'],
])('a file is refused in strict mode: %s', (_, text) => {
  expect(() => parseMcpConfig(text, { file: FILE, strict: true })).toThrow(
    /one fault:\n.*:1:1 is in the form of Master MCP Server, which strict mode refuses/,
  )
})

test.each([
  'hosting: {}\nservers: { a: { command: x } }',
  'hosting: {}\nmcpServers: { a: { command: x } }',
  'servers: [{ id: a, command: x }]',
])('a file in the own form stays as it is: %o', (text) => {
  expect(readMaster(text).servers['a']).toMatchObject({ command: 'x' })
  const faults = new FaultList(text, { hasLines: true, isStrict: false })
  const root = parseYaml(text, faults)
  expect(root && toOwnForm(root, faults)).toBe(root)
})

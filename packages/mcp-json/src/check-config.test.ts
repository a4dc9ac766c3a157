import { expect, test } from 'vitest'

import { ConfigurationError } from './document/configuration-error.ts'
import { checkConfig } from './check-config.ts'
import type { McpConfig } from './mcp-config.ts'

/** The faults of servers of any type, as JavaScript callers may pass them. */
function faultsOf(servers: unknown): readonly string[] {
  return faultsOfConfig({ servers })
}

function faultsOfConfig(config: unknown): readonly string[] {
  try {
    checkConfig(config as McpConfig)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    for (const { remedy } of error.faults) expect(remedy).toMatch(/\w.*\.$/)
    return error.faults.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

const stdio = { type: 'stdio', command: 'node', args: [], env: {}, cwd: '/srv' }
const http = { type: 'http', url: 'https://example.com/mcp', headers: {} }
const login = { type: 'client-credentials', issuer: 'https://login.example.com', clientId: 'a' }

test('a configuration with all fields is valid', () => {
  const common = {
    timeoutMs: 1,
    maxTimeoutMs: 1,
    startTimeoutMs: 1,
    stopGraceMs: 1,
    idleTimeoutMs: 1,
    restart: { policy: 'always', maxRestarts: 5, windowMs: 1 },
    healthCheck: { intervalMs: 1, timeoutMs: 1 },
    tools: { allow: ['a*'], deny: [] },
    validateArguments: 'off',
    maxConcurrentCalls: 1,
    protocol: 'modern',
    scope: 'session',
    placement: 'every',
    roots: ['file:///srv'],
  }
  const limits = { memoryBytes: 1, cpuPercent: 1 }
  expect(
    faultsOf({
      one: { ...stdio, ...common, limits, dependencies: ['two'] },
      two: { ...http, ...common, headers: { Authorization: 'Bearer x' } },
      three: { type: 'websocket', url: 'wss://example.com', headers: {} },
      four: { ...stdio, instances: [{ args: ['a'], env: { A: '' }, weight: 0.5 }, {}] },
      six: { ...http, auth: { ...login, clientSecret: 'x', scope: 'a b', omitResource: true } },
      five: { ...http, instances: [{ url: 'http://a', headers: { a: '' } }], balance: 'weighted' },
    }),
  ).toEqual([])
})

test('an undefined field counts as absent', () => {
  expect(faultsOf({ web: { ...http, timeoutMs: undefined } })).toEqual([])
})

test.each([
  ['an invalid name', { 'a.b': stdio }, 'a.b: is not a valid server name'],
  [
    'a type',
    { web: { ...http, type: 'pipe' } },
    'web.type: must be "stdio", "http", "sse", "websocket"',
  ],
  ['an inherited name as type', { web: { type: 'constructor' } }, 'web.type: must be "stdio"'],
  ['an empty command', { web: { ...stdio, command: '' } }, 'web.command: must not be empty'],
  ['a NUL', { web: { ...stdio, args: ['', '\0'] } }, 'web.args[1]: must not contain a NUL'],
  ['a variable name', { web: { ...stdio, env: { 'a=': '' } } }, 'web.env.a=: is not a valid'],
  ['a relative folder', { web: { ...stdio, cwd: 'srv' } }, 'web.cwd: must be an absolute path'],
  ['no memory', { web: { ...stdio, limits: { memoryBytes: 0 } } }, 'web.limits.memoryBytes: must'],
  ['an invalid URL', { web: { ...http, url: 'example' } }, 'web.url: is not a valid URL'],
  ['another scheme', { web: { ...http, url: 'ws://a' } }, 'web.url: must start with http'],
  ['a password', { web: { ...http, url: 'http://me:it@a' } }, 'web.url: must not contain a user'],
  ['a header', { web: { ...http, headers: { a: 'b\r\nc: d' } } }, 'web.headers.a: has characters'],
  ['a missing field', { web: { type: 'http', url: 'http://a' } }, 'web.headers: is missing'],
  ['a misspelled field', { web: { ...http, timeOutMs: 1 } }, 'web.timeOutMs: is not a known field'],
  ['a field of another type', { web: { ...http, limits: {} } }, 'web.limits: is not a known field'],
  ['no limit', { web: { ...http, timeoutMs: Infinity } }, 'web.timeoutMs: must be a number'],
  ['half a call', { web: { ...http, maxConcurrentCalls: 1.5 } }, 'web.maxConcurrentCalls: mu'],
  ['a path as root', { web: { ...http, roots: ['/srv'] } }, 'web.roots[0]: must be a file:// URI'],
  ['zero instances', { web: { ...stdio, instances: 0 } }, 'web.instances: must be a whole number'],
  [
    'an invalid header of an instance',
    { web: { ...http, instances: [{}, { headers: { a: 1 } }] } },
    'web.instances[1].headers.a: must be a string',
  ],
  [
    'instances with the scope "session"',
    { web: { ...stdio, instances: 2, scope: 'session' } },
    'web.instances: contradicts "scope"',
  ],
  [
    'a length that cannot be compared',
    { web: { ...stdio, instances: { length: { toString: '' } } } },
    'web.instances: is not valid',
  ],
  [
    'a token beside a header with one',
    {
      web: {
        ...http,
        headers: { authorization: 'Bearer x' },
        auth: { type: 'bearer', tokenFile: '/token' },
      },
    },
    'web.auth: contradicts the header "Authorization"',
  ],
  [
    'a token file with a relative path',
    { web: { ...http, auth: { type: 'bearer', tokenFile: 'token' } } },
    'web.auth.tokenFile: must be an absolute path',
  ],
  [
    'a login without a credential',
    { web: { ...http, auth: login } },
    'web.auth: must have either "clientSecret" or "privateKeyFile"',
  ],
  [
    'a login with two credentials',
    { web: { ...http, auth: { ...login, clientSecret: 'x', privateKeyFile: '/key' } } },
    'web.auth: must have either "clientSecret" or "privateKeyFile"',
  ],
  [
    'a login at no address',
    { web: { ...http, auth: { ...login, issuer: 'login.example.com', clientSecret: 'x' } } },
    'web.auth.issuer: is not a valid URL',
  ],
  [
    'an unknown strategy',
    { web: { ...http, auth: { type: 'magic' } } },
    'web.auth.type: must be an object with a "type" of "bearer" or "client-credentials"',
  ],
  [
    'a parameter of a login page that the host sets',
    { web: { ...http, auth: { type: 'oauth', parameters: { state: 'x' } } } },
    'web.auth.parameters: must not have response_type',
  ],
  [
    'auth of a program without a variable',
    { web: { ...stdio, auth: { type: 'oauth', issuer: 'https://login.example' } } },
    'web.auth.variable: is missing',
  ],
  ['a policy alone', { web: { ...http, balance: 'weighted' } }, 'web.balance: has nothing to'],
  ['a dependency', { web: { ...http, dependencies: ['x'] } }, 'web.dependencies[0]: is not the na'],
  [
    'a dependency on itself',
    { web: { ...http, dependencies: ['web'] } },
    'web.dependencies[0]: is the server its',
  ],
  [
    'dependencies as a string',
    { web: { ...http, dependencies: 'x' } },
    'web.dependencies: must be',
  ],
])('%s is reported as the only fault', (_name, servers, expected) => {
  const [fault, ...others] = faultsOf(servers)
  expect(others).toEqual([])
  expect(fault).toContain(`servers.${expected}`)
})

test.each([[{}], [{ servers: undefined }], [undefined], [null], ['mcp.json'], [7], [[]]])(
  'a configuration without servers is faulty: %o',
  (config) => {
    expect(faultsOfConfig(config)).toEqual(['servers: is missing'])
  },
)

test.each([[null], ['web'], [[{ command: 'node' }]]])(
  'servers that are no object are a fault: %o',
  (servers) => {
    expect(faultsOf(servers)).toEqual(['servers: must be an object'])
  },
)

test.each([[null], [undefined], ['node'], [7], [[]]])(
  'a server that is no object is a fault: %o',
  (server) => {
    expect(faultsOf({ web: server })).toEqual(['servers.web: must be an object'])
  },
)

test('a type that cannot be converted to a string is a fault', () => {
  const [fault] = faultsOf({ web: { type: Object.create(null) } })
  expect(fault).toContain('servers.web.type: must be "stdio"')
})

test('all faults are reported together, including cycles', () => {
  const on = (...dependencies: string[]) => ({ ...http, dependencies })
  expect(faultsOf({ a: on('b'), b: on('c'), c: on('a'), d: { ...stdio, command: '' } })).toEqual([
    'servers.d.command: must not be empty',
    'servers.c.dependencies[0]: closes the cycle a → b → c → a',
  ])
})

test('auth of a program without a variable has an example with one', () => {
  const servers = { web: { ...stdio, auth: { type: 'oauth', issuer: 'https://login.example' } } }
  // Its type would not allow the missing field.
  expect(() => checkConfig({ servers } as unknown as McpConfig)).toThrow(
    '"variable": "NOTES_TOKEN"',
  )
})

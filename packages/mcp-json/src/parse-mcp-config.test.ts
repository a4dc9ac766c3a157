import { writeFileSync } from 'node:fs'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Ajv } from 'ajv'
import { parse as parseJsonc } from 'jsonc-parser'
import { describe, expect, test } from 'vitest'

import { openWorkspace } from '@mcp-host/mcp-testkit'
import { ConfigurationError, type ConfigFault } from './document/configuration-error.ts'
import { checkConfig } from './check-config.ts'
import { FILES, FORMS, lines, MEANINGS, server } from '../test/faulty-configs.ts'
import { parseMcpConfig } from './parse-mcp-config.ts'

const variables = { TOKEN: 'secret', EMPTY: '', TWICE: '${TOKEN}', BREAK: 'secret\r\nX-Evil: 1' }
const parse = (text: string, file = '/etc/host/mcp.json') =>
  parseMcpConfig(text, { file, variables, reservedNames: ['files', 'llm'], strict: true })

function faultsOf(text: string): readonly ConfigFault[] {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
  return []
}

const config = (fields: string) => parse(server(fields)).servers['web']

const schemaFile = join(import.meta.dirname, '../../mcp-host/mcp.schema.json')
const ajv = new Ajv().addVocabulary(['allowComments', 'allowTrailingCommas'])
const isAllowedInEditors = ajv.compile(JSON.parse(readFileSync(schemaFile, 'utf8')) as object)

const http = { type: 'http', url: 'https://a.example/mcp', headers: {} }
const unnamed = { ...http, fallback: 'sse' }
const login = { type: 'client-credentials', issuer: 'https://b.example', clientId: 'a' }
const webSocket = { type: 'websocket', url: 'wss://a.example', headers: {} }
const stdio = { type: 'stdio', command: 'node', args: [], env: {}, cwd: '/etc/host' }
const URL_FIELD = '"url": "https://a.example/mcp"'
const COMMAND = '"command": "node"'

describe('a login', () => {
  test.each([
    [
      'by the token of a file',
      '{"type": "bearer", "tokenFile": "token"}',
      { type: 'bearer', tokenFile: '/etc/host/token' },
    ],
    [
      'by a secret',
      '{"type": "client-credentials", "issuer": "https://b.example", "clientId": "a", "clientSecret": "${env:TOKEN}"}',
      { ...login, clientSecret: 'secret' },
    ],
    [
      'by a private key',
      '{"type": "client-credentials", "issuer": "https://b.example", "clientId": "a", "privateKeyFile": "key.pem"}',
      { ...login, privateKeyFile: '/etc/host/key.pem' },
    ],
  ])('%s', (_, auth, expected) => {
    expect(config(`${URL_FIELD}, "auth": ${auth}`)).toMatchObject({ ...unnamed, auth: expected })
    expect(isAllowedInEditors(parseJsonc(server(`${URL_FIELD}, "auth": ${auth}`)))).toBe(true)
  })
})

describe('server entries', () => {
  test.each([
    ['with a command alone', COMMAND, stdio],
    ['with a type', `"type": "stdio", ${COMMAND}`, stdio],
    ['with the type local', `"type": "local", ${COMMAND}`, stdio],
    ['with the type local over stdio', `"type": "local", "transport": "stdio", ${COMMAND}`, stdio],
    ['with a transport alone', `"transport": "sse", ${URL_FIELD}`, { ...http, type: 'sse' }],
    ['with a URL alone', URL_FIELD, unnamed],
    ['with the URL of a WebSocket alone', '"url": "wss://a.example"', webSocket],
    ['with the type http', `"type": "http", ${URL_FIELD}`, http],
    ['with the type streamable-http', `"type": "streamable-http", ${URL_FIELD}`, http],
    [
      'with the type http and a URL of HTTP+SSE',
      '"type": "http", "url": "https://a.example/sse?a=b"',
      { ...unnamed, url: 'https://a.example/sse?a=b' },
    ],
    ['with the type sse', `"type": "sse", ${URL_FIELD}`, { ...http, type: 'sse' }],
    ['with the type websocket', '"type": "websocket", "url": "wss://a.example"', webSocket],
    ['with the type ws', '"type": "ws", "url": "wss://a.example"', webSocket],
    ['with the type remote', `"type": "remote", ${URL_FIELD}`, unnamed],
    ['with the type remote over http', `"type": "remote", "transport": "http", ${URL_FIELD}`, http],
    [
      'with the type remote over a WebSocket',
      '"type": "remote", "transport": "websocket", "url": "wss://a.example"',
      webSocket,
    ],
    ['with an id that is its key', `"id": "web", ${COMMAND}`, stdio],
    ['with a timeout in seconds', `${URL_FIELD}, "timeout": 1.5`, { ...unnamed, timeoutMs: 1500 }],
    [
      'with a timeout in milliseconds',
      `${URL_FIELD}, "timeoutMs": 1500`,
      { ...unnamed, timeoutMs: 1500 },
    ],
    [
      'with a restart policy',
      `${COMMAND}, "restart": "on-failure"`,
      { ...stdio, restart: { policy: 'on-failure' } },
    ],
    [
      'with limits',
      `${COMMAND}, "limits": { "memoryMb": 1.5, "cpuPercent": 50 }`,
      { ...stdio, limits: { memoryBytes: 1_572_864, cpuPercent: 50 } },
    ],
    [
      'with roots',
      `${URL_FIELD}, "roots": ["docs", "/srv/a b", "file:///srv/c"]`,
      { ...unnamed, roots: ['file:///etc/host/docs', 'file:///srv/a%20b', 'file:///srv/c'] },
    ],
    [
      'with several equal instances',
      `${COMMAND}, "instances": 3, "balance": "least-in-flight"`,
      { ...stdio, instances: 3, balance: 'least-in-flight' },
    ],
    [
      'with instances that differ',
      `${COMMAND}, "instances": [{ "args": ["a"], "weight": 2 }, { "env": { "A": "\${TOKEN}" } }]`,
      {
        ...stdio,
        instances: [{ args: ['a'], weight: 2 }, { env: { A: 'secret' } }],
        secrets: { TOKEN: 'secret' },
      },
    ],
    [
      'with several URLs',
      `${URL_FIELD}, "instances": [{}, { "url": "https://b.example", "headers": { "a": "b" } }]`,
      { ...unnamed, instances: [{}, { url: 'https://b.example', headers: { a: 'b' } }] },
    ],
    [
      'with fields of other clients, whose references are not expanded',
      `${COMMAND}, "disabled": false, "description": "\${NONE}", "autoApprove": ["a"], ` +
        '"alwaysAllow": [], "dev": { "watch": "${workspaceFolder}" }, "gallery": true, "version": "1"',
      stdio,
    ],
  ])('a server %s is parsed', (_name, fields, expected) => {
    expect(config(fields)).toEqual(expected)
    checkConfig(parse(server(fields)))
    expect(isAllowedInEditors(parseJsonc(server(fields)))).toBe(true)
  })

  test('a server with all settings is parsed', () => {
    const settings = {
      timeoutMs: 1,
      maxTimeoutMs: 2,
      startTimeoutMs: 3,
      stopGraceMs: 4,
      idleTimeoutMs: 5,
      dependencies: [],
      restart: { policy: 'always', maxRestarts: 5, windowMs: 6 },
      healthCheck: { intervalMs: 7, timeoutMs: 8 },
      tools: { allow: ['a*'], deny: ['ab'] },
      validateArguments: 'strict',
      maxConcurrentCalls: 9,
      protocol: 'legacy',
      scope: 'session',
      placement: 'every',
    }
    const text = JSON.stringify({ servers: { web: { url: 'http://a', ...settings } } })
    expect(parse(text).servers['web']).toEqual({
      type: 'http',
      fallback: 'sse',
      url: 'http://a',
      headers: {},
      ...settings,
    })
    expect(isAllowedInEditors(JSON.parse(text))).toBe(true)
  })

  test('variables are expanded once in every string of a server', () => {
    const fields =
      '"command": "${NONE:-node}", "args": ["--key=${TOKEN}", "${TWICE}", "$HOME", "${EMPTY:-x}"], ' +
      '"env": { "KEY": "${env:TOKEN}", "NONE": "${NONE:-}" }, "cwd": "/${TOKEN}"'
    expect(config(fields)).toEqual({
      type: 'stdio',
      command: 'node',
      args: ['--key=secret', '${TOKEN}', '$HOME', 'x'],
      env: { KEY: 'secret', NONE: '' },
      cwd: '/secret',
      secrets: { TOKEN: 'secret', TWICE: '${TOKEN}' },
    })
    expect(isAllowedInEditors(parseJsonc(server(fields)))).toBe(true)
  })

  test('variables are expanded in the URL and headers of a server', () => {
    const fields =
      '"url": "${NONE:-wss}://${TOKEN}.example", "headers": { "Authorization": "Bearer ${TOKEN}" }'
    expect(config(fields)).toEqual({
      type: 'websocket',
      url: 'wss://secret.example',
      headers: { Authorization: 'Bearer secret' },
      secrets: { TOKEN: 'secret' },
    })
    expect(isAllowedInEditors(parseJsonc(server(fields)))).toBe(true)
  })

  test('an envFile of a server is read, and its own variables take precedence', async () => {
    const workspace = await openWorkspace()
    await workspace.write('keys.env', '# keys\nONE=1\nTWO="${TOKEN}"\n')
    const text = server(`${COMMAND}, "envFile": "keys.env", "env": { "ONE": "first" }`)
    const { servers } = parse(text, workspace.path('mcp.json'))
    expect(servers['web']).toMatchObject({ env: { ONE: 'first', TWO: '${TOKEN}' } })
    expect(isAllowedInEditors(parseJsonc(text))).toBe(true)
  })

  test('an envFile in UTF-16, as PowerShell writes it, is read', async () => {
    const workspace = await openWorkspace()
    const bytes = Buffer.from('\uFEFFONE=1\r\nTWO=2\r\n', 'utf16le')
    writeFileSync(await workspace.write('keys.env', ''), bytes)
    const text = server(`${COMMAND}, "envFile": "keys.env"`)
    const { servers } = parse(text, workspace.path('mcp.json'))
    expect(servers['web']).toMatchObject({ env: { ONE: '1', TWO: '2' } })
  })
})

describe('a file', () => {
  test('a file may have comments, trailing commas, "servers" and "mcpServers", and inputs', () => {
    const text = `{
      // for editors
      "$schema": "./mcp.schema.json",
      "inputs": [{ "type": "promptString", "id": "x" }],
      "servers": { "one": { "command": "node", "args": ["a.js",], }, },
      /* as other programs write it */
      "mcpServers": { "Two_2-b": { "type": "stdio", "command": "./run", "cwd": "sub" } },
    }`
    expect(parse(text).servers).toEqual({
      one: { ...stdio, args: ['a.js'] },
      'Two_2-b': { ...stdio, command: './run', cwd: '/etc/host/sub' },
    })
    expect(isAllowedInEditors(parseJsonc(text))).toBe(true)
  })

  test('servers of a file may be a list', () => {
    const text = lines(
      '{ "servers": [',
      '  { "id": "one", "type": "local", "command": "node", "dependencies": ["two"] },',
      '  { "id": "two", "type": "remote", "url": "https://a.example/mcp" } ] }',
    )
    const expected = { one: { ...stdio, dependencies: ['two'] }, two: unnamed }
    expect(parse(text).servers).toEqual(expected)
    expect(isAllowedInEditors(parseJsonc(text))).toBe(true)
  })

  test('disabled servers are left out of a file with all their faults', () => {
    const text = lines(
      '{ "servers": {',
      '  "off": { "disabled": true, "command": "${NONE}" },',
      '  "on": { "disabled": false, "command": "node" } } }',
    )
    expect(parse(text).servers).toEqual({ on: stdio })
  })

  test('all faults of a file are reported together, in the order of the file', () => {
    const text = lines(
      '{ "mcpServers": {',
      '  "a b": { "command": 7, "colour": "red" },',
      '  "llm": { "command": "x", "args": ["${ONE}", 2] },',
      '  "web": { "command": "${ONE}${TWO}", "dependencies": ["none"] } } }',
    )
    const found = faultsOf(text).map(({ line, column, path }) => [line, column, path])
    expect(found).toEqual([
      [2, 3, 'mcpServers.a b'],
      [2, 23, 'mcpServers.a b.command'],
      [2, 26, 'mcpServers.a b.colour'],
      [3, 3, 'mcpServers.llm'],
      [3, 37, 'mcpServers.llm.args[0]'],
      [3, 47, 'mcpServers.llm.args[1]'],
      [4, 23, 'mcpServers.web.command'],
      [4, 56, 'mcpServers.web.dependencies[0]'],
    ])
  })

  test('a fault of a file is described with file, position, field and remedy', () => {
    expect(() => parse(server('"command": ["secret"]'))).toThrow(
      'the MCP configuration has one fault:\n' +
        '  /etc/host/mcp.json:2:23 servers.web.command: must be a string. ' +
        'Write for example "command": "node".',
    )
  })

  test.each([
    ['"url": "${TOKEN}"'],
    ['"url": "http://${TOKEN}@a"'],
    ['"url": "http://a", "headers": { "a": "${BREAK}" }'],
    ['"type": "${TOKEN}", "command": "a"'],
    ['"command": "a", "restart": "${TOKEN}"'],
    ['"command": "a", "dependencies": ["${TOKEN}"]'],
    ['"command": "a", "envFile": "${TOKEN}"'],
    ['"url": "http://a", "roots": ["x://${TOKEN}"]'],
  ])('faults do not contain the values of variables: %s', (fields) => {
    const faults = faultsOf(server(fields))
    expect(faults).toHaveLength(1)
    expect(JSON.stringify(faults)).not.toContain('secret')
  })
})

/** Each fault as "line:column field: message". */
function describeFaults(text: string): readonly string[] {
  return faultsOf(text).map(({ file, line, column, path, message, remedy }) => {
    expect(file).toBe('/etc/host/mcp.json')
    expect(remedy).toMatch(/\w.*\.$/)
    return `${line}:${column} ${path}: ${message}`
  })
}

test.each(FILES)(
  'a file with %s has a fault at that position',
  (_name, text, isReportedInEditors, ...faults) => {
    expect(describeFaults(text)).toEqual(faults)
    if (isReportedInEditors) expect(isAllowedInEditors(parseJsonc(text))).toBe(false)
  },
)

test.each(FORMS)(
  'a server with %s has a fault at that position, in editors too',
  (_name, fields, column, fault) => {
    expect(describeFaults(server(fields))).toEqual([`2:${column} servers.web.${fault}`])
    expect(isAllowedInEditors(parseJsonc(server(fields)))).toBe(false)
  },
)

test.each(MEANINGS)(
  'a server with %s has a fault at that position',
  (_name, fields, column, fault) => {
    expect(describeFaults(server(fields))).toEqual([`2:${column} servers.web.${fault}`])
  },
)

test('the remedy for a reference to an input is a variable of the environment', () => {
  const [fault] = faultsOf(server('"command": "${input:x}"'))
  expect(fault?.remedy).toContain('write ${env:NAME}')
})

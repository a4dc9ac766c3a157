import { describe, expect, test } from 'vitest'

import { BYPASS, readMaster, server } from '../../../test/read-master.ts'

const http = { type: 'http', headers: {} }

describe('a server at an address', () => {
  test.each([
    ['config: { port: 4001 }', { ...http, url: 'http://localhost:4001/mcp' }],
    [
      'type: npm, package: x, config: { port: 4001 }',
      { ...http, url: 'http://localhost:4001/mcp' },
    ],
    ['type: git, config: { port: 4001 }', { ...http, url: 'http://localhost:4001/mcp' }],
    ['url: "http://localhost:3006"', { ...http, url: 'http://localhost:3006', fallback: 'sse' }],
    ['url: "https://${ID}.example/mcp"', { ...http, url: 'https://host.example/mcp' }],
    ['url: "env:URL"', { ...http, url: 'https://u.example' }],
    ['url: "wss://a.example", config: { port: 0 }', { type: 'websocket', url: 'wss://a.example' }],
    ['type: npm, url: "https://a.example"', { ...http, url: 'https://a.example' }],
  ])('%s', (fields, expected) => {
    const { servers } = readMaster(server(`${fields}, ${BYPASS}`))
    expect(servers['a']).toMatchObject(expected)
  })

  test('a port in a variable is expanded', () => {
    const text = server(`config: { port: "env:PORT" }, ${BYPASS}`)
    const { servers } = readMaster(text, { PORT: '4100' })
    expect(servers['a']).toMatchObject({ url: 'http://localhost:4100/mcp' })
  })

  test('fields of a program are ignored with a warning', () => {
    const { warnings } = readMaster(
      server(
        `type: npm, url: "https://a.example", package: p, version: "1", branch: b, ${BYPASS}, config: { port: 1, environment: { A: b }, args: [c] }`,
      ),
    )
    const reason = 'is ignored, since "config.port" says that the server runs already'
    expect(warnings).toEqual([
      `3:30 servers[0].url: ${reason}`,
      `3:60 servers[0].package: ${reason}`,
      `3:72 servers[0].version: ${reason}`,
      `3:85 servers[0].branch: ${reason}`,
      `3:148 servers[0].config.environment: ${reason}`,
      `3:164 servers[0].config.args: ${reason}`,
    ])
  })

  test('empty fields of a program are left out without a warning', () => {
    const { warnings } = readMaster(
      server(`${BYPASS}, config: { port: 1, environment: {}, args: [] }`),
    )
    expect(warnings).toEqual([])
  })
})

describe('a program', () => {
  test.each([
    ['type: local, url: "file:///srv/a.mjs"', 'node', ['/srv/a.mjs']],
    ['url: ./a.cjs', 'node', ['./a.cjs']],
    ['type: local, url: a.ts', 'node', ['a.ts']],
    ['type: local, url: "file://./tools/a.py"', 'python3', ['./tools/a.py']],
    ['type: local, url: bin/a', 'bin/a', []],
    ['type: local, url: a', './a', []],
    ['type: npm, package: "@x/a"', 'npx', ['-y', '@x/a']],
    ['type: npm, package: a, version: 1.2.3', 'npx', ['-y', 'a@1.2.3']],
    ['type: npm, package: a, version: , url: null', 'npx', ['-y', 'a']],
    ['type: pypi, package: a', 'uvx', ['a']],
    ['type: pypi, package: a, version: "1.0"', 'uvx', ['a==1.0']],
    ['type: docker, package: x/a, version: v1', 'docker', ['run', '-i', '--rm', 'x/a:v1']],
  ])('%s', (fields, command, args) => {
    const { servers } = readMaster(server(`${fields}, ${BYPASS}`))
    expect(servers['a']).toMatchObject({ type: 'stdio', command, args, cwd: '/etc/host' })
  })

  test('it has the arguments and variables of its config', () => {
    const config = 'config: { args: [-v, 7, "env:SECRET"], environment: { A: "env:SECRET", B: 1 } }'
    const { servers } = readMaster(server(`type: docker, package: x, ${BYPASS}, ${config}`))
    expect(servers['a']).toMatchObject({
      args: ['run', '-i', '--rm', '-e', 'A', '-e', 'B', 'x', '-v', '7', 'top'],
      env: { A: 'top', B: '1' },
      secrets: { SECRET: 'top' },
    })
  })

  test('fields of this host stay', () => {
    const fields = 'timeoutMs: 7, tools: { deny: ["env:SECRET"] }, type: local, url: a.js'
    const { servers } = readMaster(server(`${fields}, ${BYPASS}`))
    expect(servers['a']).toMatchObject({ timeoutMs: 7, tools: { deny: ['top'] } })
  })

  test('fields without a meaning are ignored with a warning', () => {
    const { warnings } = readMaster(
      server(
        `type: npm, package: p, url: x, branch: b, ${BYPASS}, config: { cpu: 1 }, colour: red`,
      ),
    )
    const { warnings: local } = readMaster(server(`url: x.js, version: v, package: p, ${BYPASS}`))
    const reason = 'has no meaning for this type of server and is ignored'
    expect(warnings).toEqual([
      `3:42 servers[0].url: ${reason}`,
      `3:53 servers[0].branch: ${reason}`,
      '3:94 servers[0].config.cpu: is not a known field and is ignored',
      '3:104 servers[0].colour: is not a known field and is ignored',
    ])
    expect(local).toEqual([
      `3:34 servers[0].version: ${reason}`,
      `3:46 servers[0].package: ${reason}`,
    ])
  })
})

describe('a faulty server', () => {
  test.each([
    ['type: git, url: "https://github.com/x/y"', '3:20 servers[0].type: is a repository, which'],
    ['type: local, config: {}', '3:5 servers[0].url: is missing'],
    ['url: 7', '3:19 servers[0].url: must be a text'],
    ['type: ruby', '3:20 servers[0].type: is not a known type'],
    ['type: npm', '3:5 servers[0].package: is missing'],
    ['type: npm, package: [x]', '3:34 servers[0].package: must be a text'],
    ['type: npm, package: x, version: 1.1', '3:46 servers[0].version: must be a text'],
    ['url: a.js, config: { args: -v }', '3:41 servers[0].config.args: must be a list'],
    ['config: { port: 70000 }', '3:30 servers[0].config.port: must be a whole number from 1'],
    ['config: { port: "x" }', '3:30 servers[0].config.port: must be a whole number from 1'],
    ['config: { port: "${NO}" }', '3:30 servers[0].config.port: uses NO, which is not set'],
    [
      'type: npm, package: x, config: { environment: { A: "enc:gcm:abc" } }',
      '3:65 servers[0].config.environment.A: is encrypted with a key of Master MCP Server',
    ],
    [
      'type: npm, package: "env:NO", config: { args: [a, "${NO2}"] }',
      '3:34 servers[0].package: uses NO, which is not set',
      '3:64 servers[0].config.args[1]: uses NO2, which is not set',
    ],
    ['timeoutMs: 0, url: a.js', '3:25 servers[0].timeoutMs: must be more than 0'],
  ])('%s', (fields, ...expected) => {
    const { faults, servers } = readMaster(
      server(`${fields}, ${BYPASS}`, `  - { id: b, url: b.js, ${BYPASS} }`),
    )
    expect(faults).toEqual(expected.map((each) => expect.stringContaining(each)))
    expect(Object.keys(servers)).toEqual(['b'])
  })

  test('its faults do not count when it is disabled', () => {
    const { faults, servers } = readMaster(server(`disabled: true, type: git, ${BYPASS}`))
    expect({ faults, servers }).toEqual({ faults: [], servers: {} })
  })
})

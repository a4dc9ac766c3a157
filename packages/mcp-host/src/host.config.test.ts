import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import { openWorkspace } from '@mcp-host/mcp-testkit'
import { type ConfigFault, MCPHost, parseMcpConfig } from './index.ts'

describe('a host without options', () => {
  test('a host without options uses the environment of its process and common spellings of servers', async () => {
    const workspace = await openWorkspace()
    const { command, args } = workspace.fixture('named', 'a')
    await using host = new MCPHost()
    await host.initialize({ mcpServers: { it: { command, args, env: { FOUND: '${PATH}' } } } })
    expect(host.getServers()).toMatchObject([{ name: 'it', state: 'ready' }])
    expect(host.getTools()).toMatchObject([{ name: 'it.a' }, {}])
  })
})

describe('a configuration given as an object', () => {
  test('a configuration object is read as a file is, relative to the current folder', () => {
    const config = {
      servers: { it: { command: 'node', args: ['${NAME}'], timeout: 5, cwd: 'sub', odd: 1 } },
    }
    const warnings: ConfigFault[] = []
    const onWarning = (warning: ConfigFault): void => void warnings.push(warning)
    const read = parseMcpConfig(config, { variables: { NAME: 'ada' }, onWarning })
    expect(read.servers['it']).toEqual({
      type: 'stdio',
      command: 'node',
      args: ['ada'],
      env: {},
      cwd: `${process.cwd()}/sub`,
      timeoutMs: 5000,
      secrets: { NAME: 'ada' },
    })
    expect(warnings).toEqual([
      {
        path: 'servers.it.odd',
        message: 'is not a known field and is ignored',
        remedy: 'Remove or rename it.',
      },
    ])
  })

  test('faults of a configuration object name fields and no position in a file', async () => {
    const { host } = await HostStage.open()
    const faulty = host.initialize({ servers: { it: { comand: 'node' } } })
    await expect(faulty).rejects.toMatchObject({
      faults: [{ path: 'servers.it.command', message: 'is missing' }],
    })
    await expect(faulty).rejects.toThrow(/^ {2}servers\.it\.command: is missing\. Write for/m)
  })

  test('a configuration object that was parsed before is not expanded again', async () => {
    const stage = await HostStage.open()
    const { command, args } = stage.workspace.fixture('echo')
    const written = { servers: { it: { command, args, env: { SECRET: '${TOKEN}' } } } }
    await stage.host.initialize(parseMcpConfig(written, { variables: { TOKEN: '${PATH}' } }))
    const { env } = JSON.parse(await stage.call('it.inspect')) as { env: Record<string, string> }
    expect(env['SECRET']).toBe('${PATH}')
  })

  test('warnings of a configuration object are events and log lines', async () => {
    const stage = await HostStage.open()
    const warnings: ConfigFault[] = []
    stage.host.on('config-warning', ({ warning }) => warnings.push(warning))
    const { command, args } = stage.workspace.fixture('named', 'a')
    await stage.host.initialize({ servers: { 'My server': { command, args } } })
    expect(stage.find('My-server').state).toBe('ready')
    expect(warnings).toMatchObject([{ path: 'servers.My server' }])
    expect(stage.lines('the server is called "My-server"')).toHaveLength(1)
  })

  test('a configuration object with warnings is refused under strict reading', async () => {
    const { host } = await HostStage.open({ strict: true })
    const written = { servers: { 'My server': { command: 'x', odd: 1 } }, odd: 2 }
    await expect(host.initialize(written)).rejects.toMatchObject({
      faults: [{ path: 'servers.My server' }, { path: 'servers.My server.odd' }, { path: 'odd' }],
    })
  })
})

test('dependencies follow a server that is renamed', () => {
  const { servers } = parseMcpConfig({
    servers: { 'data base': { command: 'a' }, web: { command: 'b', dependencies: ['data base'] } },
  })
  expect(Object.keys(servers)).toEqual(['data-base', 'web'])
  expect(servers['web']?.dependencies).toEqual(['data-base'])
})

test('faults in the text of a configuration have their line and column', () => {
  expect(() => parseMcpConfig('{\n "servers": 1 }')).toThrow('2:13 servers: must be an object')
})

test('an input is requested once, also when the file is read again', async () => {
  const inputIds: string[] = []
  const stage = await HostStage.open({
    askInput: ({ id }) => {
      inputIds.push(id)
      return 'secret'
    },
  })
  const { command, args } = stage.workspace.fixture('echo')
  const write = (more: object): Promise<string> =>
    stage.workspace.write('mcp.json', {
      servers: { it: { command, args, env: { TOKEN: '${input:token}', ...more } } },
    })
  const file = await write({})
  await stage.host.initialize(file)
  await write({ MORE: 'x' })
  await stage.host.reload()
  const { env } = JSON.parse(await stage.call('it.inspect')) as { env: Record<string, string> }
  expect(env).toMatchObject({ TOKEN: 'secret', MORE: 'x' })
  expect(inputIds).toEqual(['token'])
  expect(await readFile(file, 'utf8')).not.toContain('secret')
})

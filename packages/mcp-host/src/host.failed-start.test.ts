import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { describe, expect, test, vi } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { Workspace } from '@mcp-host/mcp-testkit'
import type { StdioServerConfig } from './index.ts'

/** A server that runs a script. */
function scripted(workspace: Workspace, script: string): StdioServerConfig {
  return { ...workspace.fixture('silent'), args: ['-e', script, workspace.path('end')] }
}

/** An `npx` that starts a server once the file `fetched` exists. */
async function writeNpx(workspace: Workspace): Promise<StdioServerConfig> {
  const { command, args, ...fixture } = workspace.fixture('named', 'it')
  const wait = 'while [ ! -e fetched ]; do sleep 0.02; done'
  const program = [command, ...args].map((word) => `'${word}'`).join(' ')
  const npx = await workspace.write('npx', `#!/bin/sh\nenv > env\n${wait}\nexec ${program}\n`)
  await chmod(npx, 0o755)
  return { ...fixture, command: npx, args: ['-y', 'it', workspace.path('end')] }
}

describe('a server that does not start', () => {
  test("a start fails with the server's stderr, without secrets", async () => {
    const stage = await HostStage.open()
    const script = 'console.error(`no access with ${process.env.API_KEY}`); process.exit(1)'
    const it = { ...scripted(stage.workspace, script), env: { API_KEY: 'sk-1234' } }
    const reason = 'the server "it" exited with code 1 before it was ready'
    await expect(stage.host.initialize({ servers: { it } })).rejects.toMatchObject({
      name: 'ServerStartupError',
      message: `${reason}. Its last output:\n  no access with [API_KEY]`,
      reason,
      output: ['no access with [API_KEY]'],
    })
    expect(JSON.stringify(stage.logged)).not.toContain('sk-1234')
  })

  test('the codes of shells for a command that is missing or not executable are in words', async () => {
    for (const [code, words] of [
      [127, 'command not found'],
      [126, 'command not executable'],
    ] as const) {
      const stage = await HostStage.open()
      const it = scripted(stage.workspace, `process.exit(${code})`)
      await expect(stage.host.initialize({ servers: { it } })).rejects.toMatchObject({
        reason: `the server "it" exited with code ${code} (${words}) before it was ready`,
      })
    }
  })

  test('a start fails with stdout lines that are no messages', async () => {
    const stage = await HostStage.open()
    const it = scripted(stage.workspace, 'console.log("Usage: it FOLDER"); process.exit(2)')
    const started = stage.host.initialize({ servers: { it } })
    await expect(started).rejects.toMatchObject({ output: ['Usage: it FOLDER'] })
  })

  test('a start of a program that writes text in place of MCP messages fails with advice', async () => {
    const stage = await HostStage.open({ startTimeoutMs: 1000 })
    const chatty = 'console.log("Listening on port 3000");'
    const it = scripted(stage.workspace, `${chatty} process.stdin.on("data", () => 0)`)
    const ends = scripted(stage.workspace, chatty)
    const advice =
      'it wrote text to its standard output, where only MCP messages may be: check that the command starts an MCP server over stdio, and that the server logs to stderr'
    await expect(stage.host.initialize({ servers: { it } })).rejects.toMatchObject({
      reason: `the server "it" was not ready within 1000 ms; ${advice}`,
      output: ['Listening on port 3000'],
    })
    const other = await HostStage.open()
    await expect(other.host.initialize({ servers: { it: ends } })).rejects.toMatchObject({
      reason: `the server "it" exited with code 0 before it was ready; ${advice}`,
    })
  })

  test('a start that times out fails with the output until then', async () => {
    const stage = await HostStage.open({ startTimeoutMs: 1000 })
    const it = scripted(
      stage.workspace,
      'console.error("waits for a database"); process.stdin.on("data", () => 0)',
    )
    const started = stage.host.initialize({ servers: { it } })
    await expect(started).rejects.toMatchObject({
      reason: 'the server "it" was not ready within 1000 ms',
      output: ['waits for a database'],
    })
  })

  test('a start of a remote server fails with its address and the network error', async () => {
    const stage = await HostStage.open()
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await free[Symbol.asyncDispose]()
    const url = `http://127.0.0.1:${port}/mcp/a-part-that-may-be-a-secret?key=secret`
    const it = { type: 'http' as const, url, headers: {} }
    const started = stage.host.initialize({ servers: { it } })
    await expect(started).rejects.toMatchObject({
      message: `the server "it" cannot start: fetch failed: connect ECONNREFUSED 127.0.0.1:${port} (http://127.0.0.1:${port}/mcp/…)`,
    })
  })

  test('the error of a failed start is visible while the start is retried', async () => {
    const stage = await HostStage.open({ startRetries: 1, startPolicy: 'best-effort' })
    const it = scripted(stage.workspace, 'console.error("no"); process.exit(1)')
    const started = stage.host.initialize({ servers: { it } })
    await eventually(() => stage.find('it').error !== undefined)
    expect(stage.find('it')).toMatchObject({ state: 'starting', error: { output: ['no'] } })
    await stage.host.shutdown()
    await started
  })
})

test('a call to a server that crashed fails with its last output', async () => {
  const stage = await HostStage.start((workspace) => ({ echo: workspace.fixture('echo') }))
  process.kill(stage.find('echo').pid ?? 0, 'SIGKILL')
  await eventually(() => stage.find('echo').state === 'unavailable')
  await expect(stage.host.callTool('echo.echo', { text: 'x' })).rejects.toMatchObject({
    reason: 'the server "echo" was ended by SIGKILL',
    output: expect.arrayContaining(['echo is up']),
  })
})

test('the last output of a server is read while it works and after its end', async () => {
  const stage = await HostStage.open()
  expect(stage.host.lastOutput('echo')).toEqual([])
  await stage.host.initialize({ servers: { echo: stage.workspace.fixture('echo', 'echo') } })
  await eventually(() => stage.host.lastOutput('echo').includes('echo is up'))
  await stage.host.shutdown()
  expect(stage.host.lastOutput('echo')).toContain('echo is up')
})

describe('a server that a launcher starts', () => {
  test('a server with a launcher is installing until it is ready, and gets the variables that fetching needs', async () => {
    const network = {
      HTTPS_PROXY: 'http://me:pw@127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      npm_config_registry: 'https://npm.example.com/',
      npm_config__authToken: 'secret-token',
    }
    const stage = await HostStage.open({ env: { PATH: process.env['PATH'], ...network } })
    const it = await writeNpx(stage.workspace)
    const started = stage.host.initialize({ servers: { it } })
    await eventually(() => stage.find('it').phase === 'installing')
    const { npm_config__authToken: token, ...needed } = network
    const seen = await eventually(async () => {
      const lines = await stage.workspace.lines('env')
      return lines.length > 0 && lines
    })
    expect(seen).toEqual(
      expect.arrayContaining(Object.entries(needed).map(([name, value]) => `${name}=${value}`)),
    )
    expect(seen.join('\n')).not.toContain(token)

    await stage.workspace.write('fetched', '')
    await started
    expect(stage.find('it')).toMatchObject({ state: 'ready' })
    expect(stage.find('it').phase).toBeUndefined()
  })

  test('a first start with a launcher has a longer time limit', async () => {
    const stage = await HostStage.open({ startTimeoutMs: 1, installTimeoutMs: 500 })
    const it = await writeNpx(stage.workspace)
    await expect(stage.host.initialize({ servers: { it } })).rejects.toThrow(
      'was not ready within 500 ms, in which "npx" may have had to fetch it',
    )
  })

  test('a start with a launcher has the time limit of its entry', async () => {
    const stage = await HostStage.open()
    const it = { ...(await writeNpx(stage.workspace)), startTimeoutMs: 200 }
    const started = stage.host.initialize({ servers: { it } })
    await expect(started).rejects.toThrow('was not ready within 200 ms')
  })
})

describe('the limit for the start of all servers', () => {
  const stopTime = (): void => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  }
  const servers = ({ workspace }: HostStage): Record<string, StdioServerConfig> => ({
    quick: workspace.fixture('named', 'a'),
    silent: workspace.fixture('silent'),
  })

  test('the time limit of a whole start ends it and stops all servers', async () => {
    const stage = await HostStage.open({ startTimeoutMs: 100_000 })
    stopTime()
    const started = stage.host.initialize({ servers: servers(stage) })
    const failed = expect(started).rejects.toMatchObject({
      code: 'server-startup',
      server: 'silent',
      message: 'not all servers were ready within 60000 ms: "silent"',
    })
    await eventually(() => stage.find('quick').state === 'ready')
    await vi.advanceTimersByTimeAsync(60_000)
    await failed
    expect(stage.workspace.processes()).toEqual([])
  })

  test('the time limit of a best-effort start returns to the caller while slow servers go on starting', async () => {
    const stage = await HostStage.open({
      startTimeoutMs: 100_000,
      startAllTimeoutMs: 5000,
      startPolicy: 'best-effort',
    })
    stopTime()
    const started = stage.host.initialize({ servers: servers(stage) })
    await eventually(() => stage.find('quick').state === 'ready')
    await vi.advanceTimersByTimeAsync(5000)
    await started
    expect(stage.find('silent').state).toBe('starting')
    expect(await stage.call('quick.a')).toBe('a')
  })

  test('the time limit of a whole start excludes the time in which a launcher fetches a program', async () => {
    const stage = await HostStage.open({ startAllTimeoutMs: 5000 })
    stopTime()
    const it = await writeNpx(stage.workspace)
    const started = stage.host.initialize({ servers: { it } })
    await eventually(() => stage.find('it').phase === 'installing')
    await vi.advanceTimersByTimeAsync(20_000)
    await stage.workspace.write('fetched', '')
    await started
    expect(stage.find('it').state).toBe('ready')
  })
})

import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { eventually, textOf, Workspace } from '@mcp-host/mcp-testkit'
import {
  type CallToolResult,
  MCPHost,
  type MCPHostOptions,
  type ServerConfig,
  type ServerSnapshot,
} from './index.ts'

let workspace: Workspace
let host: MCPHost
let logged: { fields: object; message: string }[]

beforeEach(async () => {
  workspace = await Workspace.open()
  logged = []
})

afterEach(async () => {
  await host.shutdown()
  const left = workspace.processes()
  await workspace[Symbol.asyncDispose]()
  expect(left).toEqual([])
})

function create(options: Partial<MCPHostOptions> = {}): MCPHost {
  const log = (fields: object, message: string): void => void logged.push({ fields, message })
  const logger = { debug: log, info: log, warn: log, error: log }
  const env = { PATH: process.env['PATH'], SECRET_KEY: 'secret' }
  host = new MCPHost({ env, logger, stopGraceMs: 500, startRetries: 0, ...options })
  return host
}

async function start(
  servers: Record<string, ServerConfig>,
  options: Partial<MCPHostOptions> = {},
): Promise<MCPHost> {
  create(options)
  await host.initialize({ servers })
  return host
}

const find = (name: string): ServerSnapshot | undefined =>
  host.getServers().find((server) => server.name === name)
const toolNames = (name: string) => find(name)?.tools.map((tool) => tool.name)

describe('a started host', () => {
  test('a started host lists the tools of all ready servers, each of which can be called', async () => {
    const tools = { allow: ['x', 'y'] }
    await start({
      a: { ...workspace.fixture('named', 'x', 'y'), tools },
      b: { ...workspace.fixture('named', 'x'), tools },
    })
    expect(host.getTools()).toEqual([
      { name: 'a.x', server: 'a', tool: 'x', inputSchema: { type: 'object' } },
      { name: 'a.y', server: 'a', tool: 'y', inputSchema: { type: 'object' } },
      { name: 'b.x', server: 'b', tool: 'x', inputSchema: { type: 'object' } },
    ])
    for (const tool of host.getTools()) {
      expect(textOf(await host.callTool(tool))).toBe(tool.tool)
      expect(textOf(await host.callTool(tool.name))).toBe(tool.tool)
    }
  })

  test('a started host lists the servers of a file with their tools as received', async () => {
    create()
    const { command, args } = workspace.fixture('echo')
    const servers = { echo: { command, args }, other: { command, args } }
    await host.initialize(await workspace.write('mcp.json', { servers }))
    expect(host.getServers().map(({ name }) => name)).toEqual(['echo', 'other'])
    expect(find('echo')).toMatchObject({
      state: 'ready',
      serverInfo: { name: 'fixture', version: '1.2.3' },
      pid: expect.any(Number),
    })
    expect(find('echo')?.tools[0]).toEqual({
      name: 'echo',
      title: 'Echo',
      description: 'Says it back',
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' }, times: { type: 'integer' } },
        required: ['text'],
        additionalProperties: false,
      },
      'x-unknown': { kept: true },
    })
    // One of the fixture's tools has no name; the other tools are listed.
    expect(toolNames('echo')).toHaveLength(12)
  })

  test('a started host lists the tools of all pages, each name once', async () => {
    await start({ pages: workspace.fixture('pages') })
    expect(toolNames('pages')).toEqual(['one', 'two', 'three', 'four'])
  })

  test('a started host coalesces a hundred list changes into few listings', async () => {
    await start({ it: workspace.fixture('changing') })
    await host.callTool('it.grow')
    await eventually(() => toolNames('it')?.includes('extra-2'))
    expect(textOf(await host.callTool('it.extra-2'))).toBe('grown')
    await eventually(() => toolNames('it')?.includes('extra-3'))
    const lists = Number(textOf(await host.callTool('it.lists')))
    expect(lists).toBeGreaterThan(2)
    expect(lists).toBeLessThan(20)
  })

  test('server changes begin with the state of each server', async () => {
    create()
    const seen: string[] = []
    const watch = async (): Promise<void> => {
      for await (const { name, state, tools } of host.serverChanges({
        signal: new AbortController().signal,
      })) {
        seen.push(`${name} ${state} ${tools.length}`)
        if (state === 'ready') break
      }
    }
    const watching = watch()
    await host.initialize({ servers: { it: workspace.fixture('named', 'a') } })
    await watching
    expect(seen).toEqual(['it starting 0', 'it ready 2'])
  })

  test('server changes end with the shutdown, or with the signal', async () => {
    await start({ it: workspace.fixture('named') })
    const { signal } = new AbortController()
    const watching = Array.fromAsync(host.serverChanges({ signal }), ({ state }) => state)
    const abort = new AbortController()
    const aborted = Array.fromAsync(host.serverChanges({ signal: abort.signal }))
    abort.abort()
    await aborted
    await host.shutdown()
    expect((await watching).at(-1)).toBe('shutdown')
    expect(await Array.fromAsync(host.serverChanges({ signal }))).toMatchObject([
      { state: 'shutdown', tools: [] },
    ])
  })

  test('a server gets the safe part of the environment and its configured variables', async () => {
    const fixture = workspace.fixture('echo')
    await start({ echo: { ...fixture, env: { OWN: 'value' } } })
    const seen = JSON.parse(textOf(await host.callTool('echo.inspect')))
    // PWD is set by the shell that registers the process; MCP_HOST_PROCESS is the tag by which stray processes are found.
    expect(Object.keys(seen.env).toSorted()).toEqual(['MCP_HOST_PROCESS', 'OWN', 'PATH', 'PWD'])
    expect(seen.cwd).toBe(workspace.folder)
  })

  test('stderr of servers is logged line by line, with a bounded length', async () => {
    await start({ echo: workspace.fixture('echo') })
    const lines = await eventually(() => {
      const found = logged.filter(({ fields }) => 'stream' in fields && fields.stream === 'stderr')
      return found.length >= 2 && found
    })
    expect(lines[0]).toEqual({
      fields: { component: 'server', server: 'echo', action: 'stderr', stream: 'stderr' },
      message: 'echo is up',
    })
    expect(lines[1]?.message).toHaveLength(2001)
  })

  test('a started host skips stdout lines that are no messages', async () => {
    await start({ noisy: workspace.fixture('noisy') })
    expect(textOf(await host.callTool('noisy.speak'))).toBe('clear')
    expect(logged.some(({ message }) => message === 'not a message on stdout')).toBe(true)
  })

  test('a second initialization of a host is refused', async () => {
    await start({})
    await expect(host.initialize({ servers: {} })).rejects.toThrow('initialized already')
  })
})

describe('a tool call', () => {
  test('a tool call returns the result as received, including one with an error', async () => {
    await start({ echo: workspace.fixture('echo') })
    expect(await host.callTool('echo.echo', { text: 'ü' })).toEqual({
      content: [{ type: 'text', text: 'ü' }],
    })
    expect(await host.callTool({ server: 'echo', tool: 'fails' }, {})).toEqual({
      content: [{ type: 'text', text: 'it went wrong' }],
      isError: true,
      extra: { kept: true },
    })
  })

  test('a tool call finds tools by name, whatever characters the names have', async () => {
    const random = (): string => randomBytes(6).toString('base64url')
    const tools = [
      'a.b',
      '.',
      'x_a.b',
      'a b',
      'ü/ß',
      '__proto__',
      random(),
      `${random()}.${random()}`,
    ]
    const servers = ['x', 'x_a', 'a', 'constructor', `s${random()}`]
    const config = servers.map((name) => [name, workspace.fixture('named', ...tools)] as const)
    await start(Object.fromEntries(config))
    for (const server of servers) {
      for (const tool of tools) {
        expect(textOf(await host.callTool(`${server}.${tool}`))).toBe(tool)
        expect(textOf(await host.callTool({ server, tool }))).toBe(tool)
      }
    }
    await expect(host.callTool('x.nothing')).rejects.toMatchObject({ code: 'validation' })
    await expect(host.callTool('nothing')).rejects.toThrow('there is no tool "nothing"')
  })

  test('a tool call with invalid arguments is refused before the server receives it', async () => {
    await workspace.write('calls', '')
    await start({
      echo: { ...workspace.fixture('echo'), validateArguments: 'strict' },
      slow: workspace.fixture('slow', workspace.path('calls')),
    })
    const args = { to: 'nobody', mood: 'angry', tags: ['a', 'B'] }
    await expect(host.callTool('echo.mail', args, { requestId: 'r1' })).rejects.toMatchObject({
      name: 'ValidationError',
      code: 'validation',
      server: 'echo',
      tool: 'mail',
      requestId: 'r1',
      message:
        'echo.mail: "to" must match format "email"; "mood" must be one of "glad", "sad"; ' +
        '"tags[1]" must match pattern "^[a-z]+$"',
      issues: [{ argument: 'to' }, { argument: 'mood' }, { argument: 'tags[1]' }],
    })
    await expect(host.callTool('slow.wait', { a: '\0' })).rejects.toThrow(
      '"a" must not contain a NUL',
    )
    expect(await workspace.lines('calls')).toEqual([])
  })

  test("arguments of a tool call are coerced by the schema without changing the caller's object", async () => {
    await start({ echo: workspace.fixture('echo') })
    const args = { to: 'nobody', mood: 'glad', tags: [true, 'b'], more: 1 }
    const tool = { server: 'echo', tool: 'mail' }
    expect(textOf(await host.callTool(tool, args))).toBe(
      '{"to":"nobody","mood":"glad","tags":["true","b"],"more":1}',
    )
    const params = { name: 'mail', arguments: { tags: [true] }, _meta: { a: 1 } }
    const forwarded = await host.forward('echo', 'tools/call', params)
    expect(textOf(forwarded as CallToolResult)).toBe('{"tags":["true"]}')
    expect(args.tags).toEqual([true, 'b'])
    expect(params.arguments).toEqual({ tags: [true] })
    await expect(host.callTool(tool, { mood: 'angry' })).rejects.toThrow('must be one of')
  })

  test('a tool call to a tool with an invalid schema reaches the tool', async () => {
    await start({ echo: workspace.fixture('echo') })
    expect(textOf(await host.callTool('echo.broken', { x: 1 }))).toBe('reached')
  })

  test('a tool call to a tool with an invalid schema is refused under strict validation', async () => {
    await start({ echo: { ...workspace.fixture('echo'), validateArguments: 'strict' } })
    await expect(host.callTool('echo.broken', {})).rejects.toMatchObject({
      code: 'validation',
      message: expect.stringContaining('its schema is unusable'),
    })
    await host.callTool('echo.old', { pair: ['a', 1] })
    await host.callTool('echo.new', { pair: ['a', 1] })
    await expect(host.callTool('echo.old', { pair: [1] })).rejects.toThrow(
      '"pair[0]" must be string',
    )
    await expect(host.callTool('echo.new', { pair: [1] })).rejects.toThrow(
      '"pair[0]" must be string',
    )
  })

  test('a tool call that times out is cancelled at the server', async () => {
    await start({ slow: workspace.fixture('slow', workspace.path('calls')) })
    const call = host.callTool('slow.wait', {}, { timeoutMs: 100, requestId: 'r2' })
    await expect(call).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'timeout',
      timeoutMs: 100,
      server: 'slow',
      tool: 'wait',
      requestId: 'r2',
    })
    const calls = await eventually(async () => {
      const lines = await workspace.lines('calls')
      return lines.length >= 2 && lines
    })
    expect(calls).toEqual(['called', 'cancelled number'])
    expect(find('slow')?.state).toBe('ready')
  })

  test.each([
    ['the server', { server: 50, host: 60_000 }],
    ['the host', { server: undefined, host: 50 }],
  ])('a tool call has the time limit of %s when it has none of its own', async (_name, limits) => {
    const fixture = workspace.fixture('slow', workspace.path('calls'))
    const slow = limits.server === undefined ? fixture : { ...fixture, timeoutMs: limits.server }
    await start({ slow }, { defaultToolTimeoutMs: limits.host })
    await expect(host.callTool('slow.wait')).rejects.toMatchObject({ timeoutMs: 50 })
  })

  test('a time limit longer than timers can hold does not end a tool call at once', async () => {
    await start({ slow: workspace.fixture('slow', workspace.path('calls')) })
    const abort = new AbortController()
    const options = { timeoutMs: Infinity, signal: abort.signal }
    const call = host.callTool('slow.wait', {}, options).catch((error: unknown) => error)
    await eventually(async () => (await workspace.lines('calls')).length > 0)
    abort.abort('enough')
    expect(await call).toBe('enough')
  })

  test('a tool call that is aborted throws the reason and is cancelled at the server', async () => {
    await start({ slow: workspace.fixture('slow', workspace.path('calls')) })
    const abort = new AbortController()
    const call = host.callTool('slow.wait', {}, { signal: abort.signal })
    const rejected = expect(call).rejects.toMatchObject({ name: 'AbortError' })
    await eventually(async () => (await workspace.lines('calls')).includes('called'))
    abort.abort()
    await rejected
    await eventually(async () => (await workspace.lines('calls')).includes('cancelled number'))
    await expect(host.callTool('slow.wait', {}, { signal: abort.signal })).rejects.toBe(
      abort.signal.reason,
    )
  })

  test('a refusal or a malformed answer to a tool call is a protocol error', async () => {
    await start({ echo: workspace.fixture('echo') })
    const code = 'protocol'
    await expect(host.callTool('echo.refuses')).rejects.toMatchObject({ code, rpcCode: -32000 })
    const malformed = host.callTool('echo.malformed')
    await expect(malformed).rejects.toMatchObject({ code, rpcCode: undefined })
  })

  test('a tool call fails at once when the server exits, which is then unavailable', async () => {
    await start({ echo: workspace.fixture('echo') })
    const never = host
      .callTool('echo.never', {}, { requestId: 'r3' })
      .catch((error: unknown) => error)
    const crash = host.callTool('echo.crash').catch((error: unknown) => error)
    const expected = {
      name: 'ServerUnavailableError',
      code: 'server-unavailable',
      server: 'echo',
      reason: 'the server "echo" exited with code 3',
    }
    const during = {
      ...expected,
      reason: `${expected.reason}; whether the tool took effect is not known`,
      isOutcomeUnknown: true,
    }
    expect(await never).toMatchObject({ ...during, tool: 'never', requestId: 'r3' })
    expect(await crash).toMatchObject({ ...during, tool: 'crash' })
    expect(find('echo')).toMatchObject({ state: 'unavailable', tools: [], error: expected })
    expect(find('echo')?.pid).toBeUndefined()
    await expect(host.callTool('echo.echo', { text: '' })).rejects.toMatchObject({
      ...expected,
      isOutcomeUnknown: false,
    })
  })

  test('a tool call gets the answer of a server that exits after writing it', async () => {
    await start({ echo: workspace.fixture('echo') })
    expect(textOf(await host.callTool('echo.farewell'))).toHaveLength(1 << 20)
    await eventually(() => find('echo')?.state === 'unavailable')
  })

  test.each([
    ['sends one endless line', 'flood', 'flood', /sent a message of more than/],
    ['closes its output and keeps running', 'mute', 'close', /closed its output/],
  ])(
    'a tool call fails at once when the server %s, which is stopped',
    async (_name, fixture, tool, message) => {
      await start({ it: workspace.fixture(fixture) })
      await expect(host.callTool({ server: 'it', tool })).rejects.toMatchObject({
        code: 'server-unavailable',
        message: expect.stringMatching(message),
      })
      await eventually(() => workspace.processes().length === 0)
    },
  )
})

describe('a start that fails', () => {
  test('a start that fails stops all servers', async () => {
    const good = workspace.fixture('stubborn', workspace.path('pids'))
    const bad = { ...workspace.fixture('echo'), command: 'no-such-command' }
    await expect(start({ good, bad })).rejects.toMatchObject({
      name: 'ServerStartupError',
      code: 'server-startup',
      server: 'bad',
      message:
        'the server "bad" cannot start: the command "no-such-command" was not found on PATH: install it, or give its path',
    })
    expect(workspace.processes()).toEqual([])
    expect(host.getServers().map(({ state }) => state)).toEqual(['shutdown', 'shutdown'])
  })

  test('a start that fails affects only its server under the policy "best-effort"', async () => {
    const exits = { ...workspace.fixture('echo'), args: ['-e', 'process.exit(9)'] }
    await start({ good: workspace.fixture('named', 'a'), exits }, { startPolicy: 'best-effort' })
    expect(textOf(await host.callTool('good.a'))).toBe('a')
    expect(find('exits')).toMatchObject({
      state: 'unavailable',
      error: { message: 'the server "exits" exited with code 9 before it was ready' },
    })
    await expect(host.callTool('exits.a')).rejects.toThrow('(not ready: exits)')
    await expect(host.callTool({ server: 'exits', tool: 'a' })).rejects.toMatchObject({
      code: 'server-unavailable',
    })
  })

  test('a start fails when a server never answers', async () => {
    const servers = { silent: workspace.fixture('silent') }
    await expect(start(servers, { startTimeoutMs: 200 })).rejects.toThrow('not ready within 200 ms')
    expect(workspace.processes()).toEqual([])
  })

  test('no server starts when the configuration is faulty', async () => {
    create()
    const { command, args } = workspace.fixture('named')
    const servers = { good: { command, args }, bad: {} }
    const file = await workspace.write('mcp.json', { servers })
    await expect(host.initialize(file)).rejects.toMatchObject({ code: 'configuration' })
    expect(host.getServers()).toEqual([])
    create()
    await expect(
      host.initialize({ servers: { 'a.b': workspace.fixture('named') } }),
    ).rejects.toMatchObject({ faults: [{ path: 'servers.a.b' }] })
  })
})

describe('a shutdown', () => {
  test('a shutdown ends servers that ignore every signal, and their children', async () => {
    await start({ it: workspace.fixture('stubborn', workspace.path('pids')) })
    await eventually(async () => (await workspace.lines('pids')).length === 2)
    expect(workspace.processes()).toHaveLength(2)
    await host.shutdown()
    expect(workspace.processes()).toEqual([])
    expect(find('it')).toMatchObject({ state: 'shutdown', tools: [] })
  })

  test('a shutdown interrupts a start', async () => {
    create()
    const starting = host.initialize({ servers: { silent: workspace.fixture('silent') } })
    const failed = expect(starting).rejects.toThrow('was stopped before it was ready')
    await eventually(() => workspace.processes().length > 0)
    await host.shutdown()
    await failed
    expect(workspace.processes()).toEqual([])
  })

  test('a shutdown during a launch leaves no process', async () => {
    create()
    const starting = host.initialize({ servers: { silent: workspace.fixture('silent') } })
    const failed = expect(starting).rejects.toThrow('was stopped before it was ready')
    await host.shutdown()
    expect(workspace.processes()).toEqual([])
    await failed
  })

  test('a shutdown prevents a start that has not begun', async () => {
    create()
    const file = await workspace.write('mcp.json', { servers: { a: { command: 'cat' } } })
    const starting = expect(host.initialize(file)).rejects.toThrow('is shut down')
    await host.shutdown()
    await starting
  })

  test('a shutdown lets a server answer a call in flight, and refuses further calls', async () => {
    await start({ echo: workspace.fixture('echo') })
    const call = host.callTool('echo.echo', { text: 'last' })
    const stopped = host.shutdown()
    await expect(host.callTool('echo.echo', { text: 'late' })).rejects.toThrow('is shut down')
    expect(textOf(await call)).toBe('last')
    await stopped
    await expect(host.callTool('echo.echo', { text: 'late' })).rejects.toThrow('is shut down')
  })
})

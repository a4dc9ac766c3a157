// The same tests with servers of both eras, over every transport.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import {
  type CallToolOptions,
  MCPHost,
  type ServerConfig,
  type ServerRequest,
  type ServerSnapshot,
} from '../../src/index.ts'
import { eventually, fixturePath, textOf } from '@mcp-host/mcp-testkit'
import { nodeServer } from './installed.ts'
import { startPeer } from './start-peer.ts'

const ROOT = 'file:///somewhere'

const owner = new AsyncDisposableStack()
const host = new MCPHost({ env: { PATH: process.env['PATH'] }, stopGraceMs: 500 })
/** The requests that the servers sent to the host, the latest last. */
const requests: ServerRequest[] = []
const updated: string[] = []

function answer(request: ServerRequest): unknown {
  requests.push(request)
  if (request.kind === 'elicitation') return { action: 'accept', content: { name: 'Ada' } }
  const content = { type: 'text', text: 'serendipity' }
  return { role: 'assistant', model: 'thinker', content }
}

beforeAll(async () => {
  const stdio = (name: string): ServerConfig =>
    nodeServer([fixturePath(`peers/${name}`)], { roots: [ROOT] })
  const remote = async (
    type: 'http' | 'websocket',
    name: string,
    ...args: string[]
  ): Promise<ServerConfig> => {
    const url = await startPeer(owner, name, ...args)
    return { type, url, headers: {}, roots: [ROOT] }
  }
  const [modernHttp, legacyHttp, modernSocket, legacySocket] = await Promise.all([
    remote('http', 'modern-http'),
    remote('http', 'legacy-http'),
    remote('websocket', 'websocket'),
    remote('websocket', 'websocket', 'legacy'),
  ])
  owner.defer(() => host.shutdown())
  host.registerCallback(answer, ['sampling', 'elicitation', 'log'])
  host.on('resource-updated', ({ server, uri }) => updated.push(`${server} ${uri}`))
  await host.initialize({
    servers: {
      'modern-stdio': stdio('modern-stdio'),
      'modern-http': modernHttp,
      'modern-websocket': modernSocket,
      'legacy-stdio': stdio('legacy-v1'),
      'legacy-http': legacyHttp,
      'legacy-websocket': legacySocket,
    },
  })
}, 30_000)

afterAll(() => owner.disposeAsync())

const transports = ['stdio', 'http', 'websocket']
const modern = transports.map((transport) => `modern-${transport}`)
const legacy = transports.map((transport) => `legacy-${transport}`)

function find(server: string): ServerSnapshot | undefined {
  return host.getServers().find(({ name }) => name === server)
}

async function call(
  server: string,
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
  options: CallToolOptions = {},
): Promise<string> {
  return textOf(await host.callTool({ server, tool }, args, options))
}

test.each(modern)('the host detects that %s speaks 2026-07-28', (server) => {
  expect(find(server)).toMatchObject({
    state: 'ready',
    era: 'modern',
    protocolVersion: '2026-07-28',
    serverInfo: { name: 'modern-peer', version: '2.0.0' },
    instructions: 'Be modern.',
  })
})

test.each(legacy)('the host detects that %s speaks 2025-11-25', (server) => {
  expect(find(server)).toMatchObject({
    state: 'ready',
    era: 'legacy',
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'legacy-peer', version: '1.0.0' },
    instructions: 'Be patient.',
  })
})

test.each(modern)('%s gets the headers that its tools declare', async (server) => {
  // Over HTTP, the server refuses a call whose header is missing or differs from the argument.
  expect(await call(server, 'route', { region: 'Łódź' })).toBe('Łódź')
})

describe.each([...modern, ...legacy])('with %s', (server) => {
  test('a call returns the result of the server', async () => {
    expect(await call(server, 'echo', { text: 'héllo\n' })).toBe('héllo\n')
  })

  test('progress reports arrive completely and in order', async () => {
    const seen: unknown[] = []
    const onProgress = (progress: unknown): void => void seen.push(progress)
    expect(await call(server, 'count', { to: 3 }, { onProgress })).toBe('counted to 3')
    expect(seen).toEqual(
      [1, 2, 3].map((progress) => ({ progress, total: 3, message: `at ${progress}` })),
    )
  })

  test('an abort cancels the call at the server', async () => {
    const [, before] = (await call(server, 'slowness')).split(' ')
    const abort = new AbortController()
    const slow = call(server, 'slow', {}, { signal: abort.signal })
    slow.catch(() => undefined)
    await eventually(async () => (await call(server, 'slowness')) === `1 ${before}`)
    abort.abort(new Error('enough'))
    await expect(slow).rejects.toThrow('enough')
    await eventually(async () => (await call(server, 'slowness')) === `0 ${Number(before) + 1}`)
  })

  test('an elicitation names its call, and its answer is completed with the defaults of the form', async () => {
    expect(await call(server, 'ask', {}, { requestId: 'q-1' })).toBe('accept: Countess Ada')
    expect(requests.at(-1)).toMatchObject({
      kind: 'elicitation',
      server,
      call: { requestId: 'q-1', tool: 'ask' },
      params: { message: 'Who are you?', requestedSchema: { required: ['name'] } },
    })
  })

  test('a sampling request gets its answer', async () => {
    const content = JSON.parse(await call(server, 'sample'))
    expect(content).toEqual({ type: 'text', text: 'serendipity' })
    expect(requests.at(-1)).toMatchObject({
      kind: 'sampling',
      server,
      params: { messages: [{ content: { text: 'Think of a word' } }], maxTokens: 10 },
    })
  })

  test('the server receives its configured roots', async () => {
    expect(await call(server, 'roots')).toBe(ROOT)
  })

  test('log messages of the server reach the callback', async () => {
    await host.setLoggingLevel('info', server)
    expect(await call(server, 'log')).toBe('logged')
    await eventually(() =>
      requests.some((request) => request.kind === 'log' && request.server === server),
    )
    expect(requests.findLast(({ kind }) => kind === 'log')).toMatchObject({
      server,
      level: 'warning',
      logger: 'peer',
      data: { said: 'in passing' },
    })
  })

  test('a structured result is returned even if it breaks its schema', async () => {
    const good = await host.callTool({ server, tool: 'weigh' }, { honest: true })
    expect(good.structuredContent).toEqual({ grams: 5 })
    const bad = await host.callTool({ server, tool: 'weigh' }, { honest: false })
    expect(bad.structuredContent).toEqual({ grams: 'heavy' })
  })

  test('the list of tools follows tools that are added and removed', async () => {
    const hasExtra = (): boolean =>
      find(server)?.tools.some(({ name }) => name === 'extra') === true
    expect(hasExtra()).toBe(false)
    await call(server, 'toggle')
    await eventually(hasExtra)
    expect(await call(server, 'extra')).toBe('more')
    await call(server, 'toggle')
    await eventually(() => !hasExtra())
  })

  test('resources are listed and read, including those of a template', async () => {
    expect(find(server)?.resources).toMatchObject([
      { uri: 'counter://value', mimeType: 'text/plain' },
    ])
    expect(find(server)?.resourceTemplates).toMatchObject([{ uriTemplate: 'greeting://{name}' }])
    const { contents } = await host.getResource({ server, uri: 'greeting://Bob' })
    expect(contents).toMatchObject([{ uri: 'greeting://Bob', text: 'Hello, Bob!' }])
  })

  test('a subscriber learns of a changed resource, whose next read is not cached', async () => {
    const uri = 'counter://value'
    const read = async (): Promise<unknown> => (await host.getResource({ server, uri })).contents[0]
    const before = Number(Object(await read()).text)
    await host.subscribe({ server, uri })
    await call(server, 'touch')
    await eventually(() => updated.includes(`${server} ${uri}`))
    expect(await read()).toMatchObject({ text: String(before + 1) })
    await host.unsubscribe({ server, uri })
  })

  test('prompts are listed, filled in and completed', async () => {
    expect(find(server)?.prompts).toMatchObject([{ name: 'review' }])
    const { messages } = await host.getPrompt({ server, prompt: 'review' }, { language: 'go' })
    expect(messages).toMatchObject([{ content: { text: 'Review this go code.' } }])
    const { completion } = await host.complete({
      ref: { type: 'ref/prompt', name: `${server}.review` },
      argument: { name: 'language', value: 'p' },
    })
    expect(completion.values).toEqual(['python'])
  })

  test('arguments of a resource template are completed', async () => {
    // Every one of these servers has such a template, so the URI names the server.
    const uri = `mcp://${server}/${encodeURIComponent('greeting://{name}')}`
    const { completion } = await host.complete({
      ref: { type: 'ref/resource', uri },
      argument: { name: 'name', value: 'al' },
    })
    expect(completion.values).toEqual(['alan'])
  })
})

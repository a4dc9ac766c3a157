import { describe, expect, test, vi } from 'vitest'

import { eventually, textOf } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type {
  ServerRequest,
  ServerRequestCallback,
  ServerRequestHandlers,
  ServerRequestKind,
  StdioServerConfig,
} from './index.ts'

interface AskingServer {
  readonly stage: HostStage
  /** The requests of the server, the latest last. */
  readonly requests: ServerRequest[]
  /** Makes the server send a request during a call, and returns the host's answer. */
  readonly ask: (method: string, params?: object, requestId?: string) => Promise<unknown>
}

async function start(
  answer: ServerRequestCallback = () => undefined,
  kinds?: readonly ServerRequestKind[],
  more: Partial<StdioServerConfig> = {},
): Promise<AskingServer> {
  const stage = await HostStage.open()
  const requests: ServerRequest[] = []
  const callback = (request: ServerRequest): unknown => {
    requests.push(request)
    return answer(request)
  }
  stage.host.registerCallback(callback, ...(kinds === undefined ? [] : [kinds]))
  await stage.host.initialize({
    servers: { it: { ...stage.workspace.fixture('asking'), ...more } },
  })
  const ask = async (method: string, params = {}, requestId?: string): Promise<unknown> => {
    const options = requestId === undefined ? {} : { requestId }
    const result = await stage.host.callTool('it.ask', { method, params }, options)
    return JSON.parse(textOf(result))
  }
  return { stage, requests, ask }
}

const sampling = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Think of a word' } }],
  maxTokens: 10,
}
const form = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer', default: 7 },
      city: { type: 'string', default: 'Rome' },
    },
    required: ['name'],
  },
}
const elicitation = { action: 'accept', content: { name: 'Ada', city: 'London' } }
const thought = { role: 'assistant', model: 'm', content: { type: 'text', text: 'serendipity' } }

describe('server requests', () => {
  test('a server request reaches the callback with its server and call', async () => {
    const { requests, ask } = await start(() => thought)
    expect(await ask('sampling/createMessage', sampling, 'r1')).toMatchObject({ result: thought })
    expect(requests).toEqual([
      {
        kind: 'sampling',
        server: 'it',
        params: sampling,
        call: { requestId: 'r1', tool: 'ask' },
        signal: expect.any(AbortSignal),
      },
    ])
  })

  test('a server request names no call while several are in flight', async () => {
    const { stage, requests, ask } = await start(() => thought)
    const abort = new AbortController()
    const waiting = stage.host
      .callTool('it.wait', {}, { signal: abort.signal })
      .catch(() => 'ended')
    await ask('sampling/createMessage', sampling)
    expect(requests[0]).not.toHaveProperty('call')
    abort.abort()
    await waiting
    await ask('sampling/createMessage', sampling)
    expect(requests[1]).toMatchObject({ call: { tool: 'ask' } })
  })

  test('an elicitation is completed with the defaults of its form', async () => {
    const { ask } = await start(() => elicitation)
    expect(await ask('elicitation/create', form)).toEqual({
      result: { action: 'accept', content: { name: 'Ada', age: 7, city: 'London' } },
    })
  })

  test('a form that MCP does not allow reaches the callback in one that it allows', async () => {
    const { requests, ask } = await start(() => ({ action: 'accept', content: { level: '2' } }))
    const requestedSchema = {
      type: 'object',
      properties: {
        level: { type: 'integer', enum: [1, 2] },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      },
    }
    expect(await ask('elicitation/create', { message: '?', requestedSchema })).toEqual({
      result: { action: 'accept', content: { level: 2 } },
    })
    const level = { type: 'string', oneOf: [{ const: '1' }, { const: '2' }] }
    const properties = { level, note: { type: 'string' } }
    expect(requests).toMatchObject([{ params: { requestedSchema: { properties } } }])
  })

  test('a declined elicitation is not completed with defaults', async () => {
    const { ask } = await start(() => ({ action: 'decline' }))
    expect(await ask('elicitation/create', form)).toEqual({ result: { action: 'decline' } })
  })

  test.each([
    ['throws', () => Promise.reject(new Error('nobody is there'))],
    [
      'throws at once',
      () => {
        throw new Error('nobody is there')
      },
    ],
  ])('a server request gets the error of a callback that %s', async (_title, answer) => {
    const { ask, stage } = await start(answer)
    expect(await ask('roots/list')).toMatchObject({ error: { message: 'nobody is there' } })
    expect(stage.find('it').state).toBe('ready')
  })

  test('a request for roots is answered by the callback', async () => {
    const roots = [{ uri: 'file:///a', name: 'A' }]
    const { requests, ask } = await start(() => ({ roots }))
    expect(await ask('roots/list')).toEqual({ result: { roots } })
    expect(requests).toMatchObject([{ kind: 'roots', server: 'it', call: { tool: 'ask' } }])
    expect(requests[0]).not.toHaveProperty('params')
  })

  test('a request for roots is answered with the configured roots, whatever the callback returns', async () => {
    const roots = ['file:///configured']
    const { requests, ask } = await start(() => ({ roots: [] }), undefined, { roots })
    expect(await ask('roots/list')).toEqual({ result: { roots: [{ uri: roots[0] }] } })
    expect(requests).toEqual([])
  })

  test('a server request is aborted with the call that caused it', async () => {
    const received = Promise.withResolvers<AbortSignal>()
    const { stage } = await start((request) => {
      if (request.kind === 'sampling') received.resolve(request.signal)
      return new Promise(() => undefined)
    })
    const args = { method: 'sampling/createMessage', params: sampling }
    const call = stage.host.callTool('it.ask', args).catch((error: unknown) => error)
    const signal = await received.promise
    await stage.host.restart('it')
    expect(await call).toMatchObject({ code: 'server-unavailable' })
    expect(signal.aborted).toBe(true)
  })
})

test('a server that waits for an answer of the host does not time out', async () => {
  const answer = Promise.withResolvers<unknown>()
  const { ask, requests } = await start(() => answer.promise, undefined, {
    timeoutMs: 1000,
    maxTimeoutMs: 60_000,
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const call = ask('elicitation/create', form)
  await eventually(() => requests.length === 1)
  await vi.advanceTimersByTimeAsync(30_000)
  answer.resolve(elicitation)
  expect(await call).toMatchObject({ result: { action: 'accept' } })
})

describe('input requests of 2026-07-28', () => {
  const open = async (answer: ServerRequestCallback): Promise<HostStage> => {
    const stage = await HostStage.open()
    stage.host.registerCallback(answer, ['elicitation'])
    const fixture = stage.workspace.fixture('asking-modern')
    await stage.host.initialize({ servers: { it: { ...fixture, protocol: 'modern' } } })
    return stage
  }

  test('an input request is answered by the callback, and the call continues', async () => {
    const stage = await open(() => ({ action: 'accept', content: { name: 'Ada' } }))
    expect(JSON.parse(await stage.call('it.ask'))).toEqual({
      who: { action: 'accept', content: { name: 'Ada' } },
    })
  })

  test.each<[string, (stage: HostStage, abort: AbortController) => unknown, object]>([
    [
      'the server exits',
      (stage) => process.kill(stage.find('it').pid ?? 0, 'SIGKILL'),
      { name: 'ServerUnavailableError', message: expect.stringContaining('was ended by SIGKILL') },
    ],
    ['the caller aborts', (_stage, abort) => abort.abort(), { name: 'AbortError' }],
    ['the host is shut down', (stage) => stage.host.shutdown(), { name: 'ServerUnavailableError' }],
  ])('an input request is aborted when %s', async (_title, happens, expected) => {
    const received = Promise.withResolvers<ServerRequest>()
    const stage = await open((request) => {
      received.resolve(request)
      return new Promise(() => undefined)
    })
    const abort = new AbortController()
    const call = stage.host
      .callTool('it.ask', {}, { signal: abort.signal })
      .catch((error: unknown) => error)
    const request = await received.promise
    if (!('signal' in request)) throw new Error('the request has no signal')
    expect(request.signal.aborted).toBe(false)
    await happens(stage, abort)
    expect(await call).toMatchObject(expected)
    expect(request.signal.aborted).toBe(true)
    expect(stage.host.getMetrics().servers['it']?.calls.inFlight).toBe(0)
  })

  test('an input request whose callback fails is a protocol error of the call', async () => {
    const stage = await open(() => Promise.reject(new Error('nobody is there')))
    await expect(stage.host.callTool('it.ask', {}, { requestId: 'r' })).rejects.toMatchObject({
      name: 'ProtocolError',
      server: 'it',
      tool: 'ask',
      requestId: 'r',
      message: 'it.ask asks for input that cannot be provided: nobody is there',
    })
    expect(stage.find('it').state).toBe('ready')
  })
})

describe('the handshake', () => {
  const handshake = async ({ stage }: AskingServer): Promise<Record<string, unknown>> =>
    JSON.parse(await stage.call('it.handshake'))

  test('the handshake declares all capabilities if a callback handles all requests', async () => {
    expect(await handshake(await start())).toMatchObject({
      capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
    })
  })

  test('the handshake declares only the capabilities that a callback handles', async () => {
    const asking = await start(() => thought, ['sampling'])
    expect(Object.keys(Object((await handshake(asking))['capabilities']))).toEqual(['sampling'])
    expect(await asking.ask('elicitation/create', form)).toMatchObject({ error: { code: -32_601 } })
    expect(await asking.ask('roots/list')).toMatchObject({ error: { code: -32_601 } })
    expect(asking.requests).toEqual([])
  })

  test('the handshake declares no capabilities without a callback, and roots if some are configured', async () => {
    const stage = await HostStage.start((workspace) => ({
      it: workspace.fixture('asking'),
      rooted: { ...workspace.fixture('asking'), roots: ['file:///a', 'file:///b'] },
    }))
    const capabilities = async (server: string): Promise<unknown> =>
      JSON.parse(await stage.call(`${server}.handshake`)).capabilities
    expect(await capabilities('it')).toEqual({})
    expect(await capabilities('rooted')).toEqual({ roots: {} })
    expect(JSON.parse(await stage.call('rooted.ask', { method: 'roots/list' }))).toEqual({
      result: { roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] },
    })
  })

  test('the handshake declares the extensions of the application', async () => {
    const extensions = { 'example.org/ui': { mimeTypes: ['text/html'] } }
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('asking') }), {
      extensions,
    })
    expect(JSON.parse(await stage.call('it.handshake'))).toMatchObject({
      capabilities: { extensions },
    })
  })

  test('the handshake names the client', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('asking') }), {
      clientInfo: { name: 'my-app', version: '9.9.9' },
    })
    expect(JSON.parse(await stage.call('it.handshake'))).toMatchObject({
      clientInfo: { name: 'my-app', version: '9.9.9' },
    })
  })
})

describe('a host with handlers', () => {
  const open = async (handlers: ServerRequestHandlers): Promise<HostStage> => {
    const stage = await HostStage.open()
    stage.host.registerCallback(handlers)
    await stage.host.initialize({ servers: { it: stage.workspace.fixture('asking') } })
    return stage
  }
  const ask = async (stage: HostStage, method: string, params = {}): Promise<unknown> =>
    JSON.parse(await stage.call('it.ask', { method, params }))

  test('a host with handlers declares their capabilities and calls them', async () => {
    const messages: string[] = []
    const stage = await open({
      sampling: ({ params }) => {
        messages.push(`sampling ${params.maxTokens}`)
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'serendipity' } }
      },
      log: ({ level }) => void messages.push(level),
    })
    expect(JSON.parse(await stage.call('it.handshake'))).toMatchObject({
      capabilities: { sampling: {} },
    })
    expect(await ask(stage, 'sampling/createMessage', sampling)).toEqual({ result: thought })
    expect(await ask(stage, 'elicitation/create', form)).toMatchObject({ error: { code: -32_601 } })
    await stage.call('it.log', { level: 'info', data: 1 })
    expect(messages).toEqual(['sampling 10', 'info'])
  })

  test('a host declines a request whose handler returns undefined', async () => {
    const stage = await open({
      sampling: () => undefined,
      elicitation: async () => undefined,
      roots: () => undefined,
    })
    expect(await ask(stage, 'elicitation/create', form)).toEqual({ result: { action: 'decline' } })
    expect(await ask(stage, 'roots/list')).toEqual({ result: { roots: [] } })
    expect(await ask(stage, 'sampling/createMessage', sampling)).toMatchObject({
      error: { code: -1, message: expect.stringContaining('declined') },
    })
  })

  test("the type of a handler's answer follows from the kind of request", () => {
    const handlers: ServerRequestHandlers = {
      // @ts-expect-error An answer to an elicitation is no answer to a sampling request.
      sampling: () => ({ action: 'decline' }),
      roots: () => ({ roots: [{ uri: 'file:///a' }] }),
    }
    expect(handlers).toBeDefined()
  })
})

describe('a log message', () => {
  const message = { level: 'warning', logger: 'heart', data: { beats: 3 } }

  test('a log message reaches the callback and the events, with the call that caused it', async () => {
    const { stage, requests } = await start()
    const events: unknown[] = []
    stage.host.on('log', (event) => events.push(event))
    await stage.host.callTool('it.log', message, { requestId: 'r1' })
    await stage.host.callTool('it.log', { level: 'info', data: 'bare' })
    const from = { kind: 'log', server: 'it', isOutsideCalls: false }
    expect(requests).toEqual([
      { ...from, ...message, call: { requestId: 'r1', tool: 'log' } },
      { ...from, level: 'info', data: 'bare', call: { tool: 'log' } },
    ])
    expect(events).toEqual([
      { type: 'log', server: 'it', ...message },
      { type: 'log', server: 'it', level: 'info', data: 'bare' },
    ])
  })

  test('a log message is an event even if no callback handles it', async () => {
    const { stage, requests } = await start(() => undefined, ['sampling'])
    const events: unknown[] = []
    stage.host.on('log', (event) => events.push(event))
    await stage.host.callTool('it.log', message)
    expect(requests).toEqual([])
    expect(events).toHaveLength(1)
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('no room'))],
    [
      'throws',
      () => {
        throw new Error('no room')
      },
    ],
  ])('a log message costs only a log line if the callback %s', async (_title, answer) => {
    const { stage } = await start(answer)
    await stage.host.callTool('it.log', message)
    expect(await stage.host.callTool('it.log', message)).toBeDefined()
    const lines = await eventually(() => {
      const found = stage.lines('callback failed')
      return found.length === 2 && found
    })
    expect(lines[0]).toMatchObject({ level: 'error', fields: { server: 'it' } })
  })
})

import { describe, expect, test, vi } from 'vitest'

import { eventually } from '../test/eventually.ts'
import { HostStage } from '../test/host-stage.ts'
import { textOf } from '../test/text-of.ts'
import type {
  ServerRequest,
  ServerRequestCallback,
  ServerRequestHandlers,
  ServerRequestKind,
  StdioServerConfig,
} from './index.ts'

interface Asking {
  readonly stage: HostStage
  /** What the server asked, the latest last. */
  readonly asked: ServerRequest[]
  /** The host's answer to what the server asks in a call. */
  readonly ask: (method: string, params?: object, requestId?: string) => Promise<unknown>
}

async function start(
  answer: ServerRequestCallback = () => undefined,
  kinds?: readonly ServerRequestKind[],
  more: Partial<StdioServerConfig> = {},
): Promise<Asking> {
  const stage = await HostStage.open()
  const asked: ServerRequest[] = []
  const callback = (request: ServerRequest): unknown => {
    asked.push(request)
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
  return { stage, asked, ask }
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

describe('what a server asks', () => {
  test('reaches the callback with the server and the call that caused it', async () => {
    const { asked, ask } = await start(() => thought)
    expect(await ask('sampling/createMessage', sampling, 'r1')).toMatchObject({ result: thought })
    expect(asked).toEqual([
      {
        kind: 'sampling',
        server: 'it',
        params: sampling,
        call: { requestId: 'r1', tool: 'ask' },
        signal: expect.any(AbortSignal),
      },
    ])
  })

  test('names no call while several are under way', async () => {
    const { stage, asked, ask } = await start(() => thought)
    const abort = new AbortController()
    const waiting = stage.host
      .callTool('it.wait', {}, { signal: abort.signal })
      .catch(() => 'ended')
    await ask('sampling/createMessage', sampling)
    expect(asked[0]).not.toHaveProperty('call')
    abort.abort()
    await waiting
    await ask('sampling/createMessage', sampling)
    expect(asked[1]).toMatchObject({ call: { tool: 'ask' } })
  })

  test('in a form gets its defaults where the answer leaves something out', async () => {
    const { ask } = await start(() => elicitation)
    expect(await ask('elicitation/create', form)).toEqual({
      result: { action: 'accept', content: { name: 'Ada', age: 7, city: 'London' } },
    })
  })

  test('in a form that is declined stays unanswered', async () => {
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
  ])('gets the error of a callback that %s', async (_title, answer) => {
    const { ask, stage } = await start(answer)
    expect(await ask('roots/list')).toMatchObject({ error: { message: 'nobody is there' } })
    expect(stage.find('it').state).toBe('ready')
  })

  test('is answered by the callback where it asks for roots', async () => {
    const roots = [{ uri: 'file:///a', name: 'A' }]
    const { asked, ask } = await start(() => ({ roots }))
    expect(await ask('roots/list')).toEqual({ result: { roots } })
    expect(asked).toMatchObject([{ kind: 'roots', server: 'it', call: { tool: 'ask' } }])
    expect(asked[0]).not.toHaveProperty('params')
  })

  test('for roots is what is configured, whatever callback is there', async () => {
    const roots = ['file:///configured']
    const { asked, ask } = await start(() => ({ roots: [] }), undefined, { roots })
    expect(await ask('roots/list')).toEqual({ result: { roots: [{ uri: roots[0] }] } })
    expect(asked).toEqual([])
  })

  test('gives up with the call that caused it', async () => {
    const given = Promise.withResolvers<AbortSignal>()
    const { stage } = await start((request) => {
      if (request.kind === 'sampling') given.resolve(request.signal)
      return new Promise(() => undefined)
    })
    const args = { method: 'sampling/createMessage', params: sampling }
    const call = stage.host.callTool('it.ask', args).catch((error: unknown) => error)
    const signal = await given.promise
    await stage.host.restart('it')
    expect(await call).toMatchObject({ code: 'server-unavailable' })
    expect(signal.aborted).toBe(true)
  })
})

test('a server that waits for an answer of ours is not silent', async () => {
  const answer = Promise.withResolvers<unknown>()
  const { ask, asked } = await start(() => answer.promise, undefined, {
    timeoutMs: 1000,
    maxTimeoutMs: 60_000,
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const call = ask('elicitation/create', form)
  await eventually(() => asked.length === 1)
  await vi.advanceTimersByTimeAsync(30_000)
  answer.resolve(elicitation)
  expect(await call).toMatchObject({ result: { action: 'accept' } })
})

describe('what a server of 2026-07-28 asks in the middle of a call', () => {
  const open = async (answer: ServerRequestCallback): Promise<HostStage> => {
    const stage = await HostStage.open()
    stage.host.registerCallback(answer, ['elicitation'])
    const fixture = stage.workspace.fixture('asking-modern')
    await stage.host.initialize({ servers: { it: { ...fixture, protocol: 'modern' } } })
    return stage
  }

  test('is answered by the callback, and the call goes on', async () => {
    const stage = await open(() => ({ action: 'accept', content: { name: 'Ada' } }))
    expect(JSON.parse(await stage.say('it.ask'))).toEqual({
      who: { action: 'accept', content: { name: 'Ada' } },
    })
  })

  test.each<[string, (stage: HostStage, abort: AbortController) => unknown, object]>([
    [
      'the server ends',
      (stage) => process.kill(stage.find('it').pid ?? 0, 'SIGKILL'),
      { name: 'ServerUnavailableError', message: expect.stringContaining('was ended by SIGKILL') },
    ],
    ['the caller aborts', (_stage, abort) => abort.abort(), { name: 'AbortError' }],
    ['the host is shut down', (stage) => stage.host.shutdown(), { name: 'ServerUnavailableError' }],
  ])('is given up when %s', async (_title, happens, expected) => {
    const given = Promise.withResolvers<ServerRequest>()
    const stage = await open((request) => {
      given.resolve(request)
      return new Promise(() => undefined)
    })
    const abort = new AbortController()
    const call = stage.host
      .callTool('it.ask', {}, { signal: abort.signal })
      .catch((error: unknown) => error)
    const request = await given.promise
    if (!('signal' in request)) throw new Error('it does not tell when to give up')
    expect(request.signal.aborted).toBe(false)
    await happens(stage, abort)
    expect(await call).toMatchObject(expected)
    expect(request.signal.aborted).toBe(true)
    expect(stage.host.getMetrics().servers['it']?.calls.inFlight).toBe(0)
  })

  test('and the callback fails to give is a fault of the protocol', async () => {
    const stage = await open(() => Promise.reject(new Error('nobody is there')))
    await expect(stage.host.callTool('it.ask', {}, { requestId: 'r' })).rejects.toMatchObject({
      name: 'ProtocolError',
      server: 'it',
      tool: 'ask',
      requestId: 'r',
      message: 'it.ask asks for input that cannot be had: nobody is there',
    })
    expect(stage.find('it').state).toBe('ready')
  })
})

describe('a server is told', () => {
  const told = async ({ stage }: Asking): Promise<Record<string, unknown>> =>
    JSON.parse(await stage.say('it.told'))

  test('of all that it may ask where a callback is registered for all', async () => {
    expect(await told(await start())).toMatchObject({
      capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
    })
  })

  test('of no more than what somebody answers', async () => {
    const asking = await start(() => thought, ['sampling'])
    expect(Object.keys(Object((await told(asking))['capabilities']))).toEqual(['sampling'])
    expect(await asking.ask('elicitation/create', form)).toMatchObject({ error: { code: -32_601 } })
    expect(await asking.ask('roots/list')).toMatchObject({ error: { code: -32_601 } })
    expect(asking.asked).toEqual([])
  })

  test('of nothing without a callback, and of roots where some are configured', async () => {
    const stage = await HostStage.start((workspace) => ({
      it: workspace.fixture('asking'),
      rooted: { ...workspace.fixture('asking'), roots: ['file:///a', 'file:///b'] },
    }))
    const capabilities = async (server: string): Promise<unknown> =>
      JSON.parse(await stage.say(`${server}.told`)).capabilities
    expect(await capabilities('it')).toEqual({})
    expect(await capabilities('rooted')).toEqual({ roots: {} })
    expect(JSON.parse(await stage.say('rooted.ask', { method: 'roots/list' }))).toEqual({
      result: { roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] },
    })
  })

  test('who the host is', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('asking') }), {
      clientInfo: { name: 'my-app', version: '9.9.9' },
    })
    expect(JSON.parse(await stage.say('it.told'))).toMatchObject({
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
    JSON.parse(await stage.say('it.ask', { method, params }))

  test('tells servers that they may ask what has a handler, and gives it the request', async () => {
    const messages: string[] = []
    const stage = await open({
      sampling: ({ params }) => {
        messages.push(`sampling ${params.maxTokens}`)
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'serendipity' } }
      },
      log: ({ level }) => void messages.push(level),
    })
    expect(JSON.parse(await stage.say('it.told'))).toMatchObject({ capabilities: { sampling: {} } })
    expect(await ask(stage, 'sampling/createMessage', sampling)).toEqual({ result: thought })
    expect(await ask(stage, 'elicitation/create', form)).toMatchObject({ error: { code: -32_601 } })
    await stage.say('it.log', { level: 'info', data: 1 })
    expect(messages).toEqual(['sampling 10', 'info'])
  })

  test('declines a request whose handler returns undefined', async () => {
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

  test('has answers of the type that the kind of request asks for', () => {
    const handlers: ServerRequestHandlers = {
      // @ts-expect-error An answer to the user's question is none to a question for a model.
      sampling: () => ({ action: 'decline' }),
      roots: () => ({ roots: [{ uri: 'file:///a' }] }),
    }
    expect(handlers).toBeDefined()
  })
})

describe('a log message', () => {
  const message = { level: 'warning', logger: 'heart', data: { beats: 3 } }

  test('reaches the callback and the events, with the call that caused it', async () => {
    const { stage, asked } = await start()
    const events: unknown[] = []
    stage.host.on('log', (event) => events.push(event))
    await stage.host.callTool('it.log', message, { requestId: 'r1' })
    await stage.host.callTool('it.log', { level: 'info', data: 'bare' })
    const from = { kind: 'log', server: 'it', isOutsideCalls: false }
    expect(asked).toEqual([
      { ...from, ...message, call: { requestId: 'r1', tool: 'log' } },
      { ...from, level: 'info', data: 'bare', call: { tool: 'log' } },
    ])
    expect(events).toEqual([
      { type: 'log', server: 'it', ...message },
      { type: 'log', server: 'it', level: 'info', data: 'bare' },
    ])
  })

  test('is an event alone where no callback takes it', async () => {
    const { stage, asked } = await start(() => undefined, ['sampling'])
    const events: unknown[] = []
    stage.host.on('log', (event) => events.push(event))
    await stage.host.callTool('it.log', message)
    expect(asked).toEqual([])
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
  ])('costs nothing but a line in the log when the callback %s', async (_title, answer) => {
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

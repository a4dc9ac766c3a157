// Questions over a real broker: asked through one connection, answered through another.
import type { Bus } from '@mcp-host/bus'
import type {
  GenerationId,
  InputAnswered,
  LogFact,
  SampleRequest,
  SessionId,
  ToolCallId,
} from '@mcp-host/contracts'
import {
  BusError,
  generationControl,
  InputRequired,
  newEnvelope,
  newSessionId,
  sample,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import type { ServerRequest } from 'mcp-host'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AnswerServerRequestDeps } from './answer-server-request.ts'
import { answerServerRequest } from './answer-server-request.ts'
import type { RunningCall } from '../tool-calls/running-calls.ts'
import { RunningCalls } from '../tool-calls/running-calls.ts'

type Params<Kind> = Extract<ServerRequest, { kind: Kind }> extends { params: infer P } ? P : never

let broker: Broker
let bus: Bus
let other: Bus
beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect()
  other = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

const envelope = newEnvelope('local')
let session: SessionId
let call: ToolCallId
let ended: AbortController
let withdrawn: AbortController
let deps: AnswerServerRequestDeps
beforeEach(() => {
  session = newSessionId()
  call = `${session}-0-0` as ToolCallId
  ended = new AbortController()
  withdrawn = new AbortController()
  const quiet = (): void => undefined
  const logger = { info: quiet, warn: quiet } as unknown as Logger
  deps = { bus, logger, calls: new RunningCalls() }
  deps.calls.add(running())
})

// Who stopped to answer is forgotten by the broker when that has reached it.
afterEach(() => other.ping())

const running = (more: Partial<RunningCall> = {}): RunningCall => ({
  session,
  call,
  attempt: 1,
  server: 'test',
  tool: 'ask',
  envelope,
  usage: [],
  signal: ended.signal,
  ...more,
})

const form: Params<'elicitation'> = {
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
}

function ask(params: Params<'elicitation'> = form, requestId?: string): Promise<unknown> {
  return answerServerRequest(deps, {
    session,
    server: 'test',
    request: {
      kind: 'elicitation',
      server: 'test',
      params,
      signal: withdrawn.signal,
      ...(requestId === undefined ? {} : { call: { requestId } }),
    },
  })
}

/** The questions in the log, once there are so many. */
async function asked(count = 1): Promise<InputRequired[]> {
  return eventually(async () => {
    const entries = await other.sessions.read(session, 0)
    const questions = entries.flatMap(({ fact }) =>
      fact !== undefined && 'type' in fact && fact.type === 'input-required' ? [fact] : [],
    )
    return questions.length >= count && questions
  })
}

const append = (fact: LogFact): Promise<{ seq: number }> =>
  other.sessions.append(session, fact, { envelope, messageId: crypto.randomUUID() })

const say = (id: string, action: InputAnswered['action'], name?: string): Promise<unknown> =>
  append({
    kind: 'control',
    fact: {
      type: 'input-answered',
      id,
      action,
      ...(name === undefined ? {} : { content: { name } }),
    },
  })

/** The bus, on which something happens just before each append. */
function beforeAppend(happen: (fact: LogFact) => Promise<void>): Bus {
  const { sessions } = bus
  const store: typeof sessions.append = async (of, fact, options) => {
    await happen(fact)
    return sessions.append(of, fact, options)
  }
  const follow: typeof sessions.follow = (...args) => sessions.follow(...args)
  // Only what asking uses.
  return { sessions: { append: store, follow } } as unknown as Bus
}

const closings = async (): Promise<unknown[]> =>
  (await other.sessions.read(session, 0)).flatMap(({ fact }) =>
    fact !== undefined && 'type' in fact && fact.type === 'input-closed' ? [fact.reason] : [],
  )

describe('a question', () => {
  test('stands in the log and is answered from there', async () => {
    const before = Date.now()
    const answer = ask()
    const [question] = await asked()
    expect(question).toMatchObject({
      call,
      attempt: 1,
      server: 'test',
      tool: 'ask',
      kind: 'elicitation',
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: form.requestedSchema,
    })
    expect(question?.expiresAt).toBeGreaterThanOrEqual(before + 300_000)
    await say(question?.id ?? '', 'accept', 'Ann')
    expect(await answer).toEqual({ action: 'accept', content: { name: 'Ann' } })
    expect(await closings()).toEqual([])
  })

  test.each(['decline', 'cancel'] as const)('may get the answer %s', async (action) => {
    const answer = ask()
    const [question] = await asked()
    await say(question?.id ?? '', action)
    expect(await answer).toEqual({ action })
  })

  test('has the first of two answers, and none that is meant for another', async () => {
    const answers = [ask(), ask()]
    const [first, second] = await asked(2)
    await say(second?.id ?? '', 'accept', 'Bob')
    await say(first?.id ?? '', 'accept', 'Ann')
    await say(first?.id ?? '', 'accept', 'Cid')
    const said = (await Promise.all(answers)) as { content: { name: string } }[]
    expect(said.map(({ content }) => content.name).toSorted()).toEqual(['Ann', 'Bob'])
  })

  test('that nobody answers in time is closed in the log and cancelled', async () => {
    deps = { ...deps, inputTimeoutMs: 1 }
    expect(await ask()).toEqual({ action: 'cancel' })
    expect(await closings()).toEqual(['expired'])
  })

  test('whose answer stands in the log before its end has it, however late it is read', async () => {
    // The answer is stored between the end of the time and the entry that says so.
    deps = {
      ...deps,
      inputTimeoutMs: 1,
      bus: beforeAppend(async ({ fact }) => {
        if ('type' in fact && fact.type === 'input-closed') await say(fact.id, 'accept', 'Ann')
      }),
    }
    expect(await ask()).toEqual({ action: 'accept', content: { name: 'Ann' } })
  })

  test('that its server takes back is closed in the log', async () => {
    const answer = ask()
    await asked()
    withdrawn.abort()
    expect(await answer).toEqual({ action: 'cancel' })
    await eventually(async () => (await closings()).length === 1)
    expect(await closings()).toEqual(['withdrawn'])
  })

  test('that its server takes back while it is stored is closed, too', async () => {
    deps = { ...deps, bus: beforeAppend(async () => withdrawn.abort()) }
    expect(await ask()).toEqual({ action: 'cancel' })
    await eventually(async () => (await closings()).length === 1)
  })

  test('ends with its call', async () => {
    const answer = ask()
    await asked()
    ended.abort()
    expect(await answer).toEqual({ action: 'cancel' })
    expect(await ask()).toEqual({ action: 'cancel' })
    expect(await asked()).toHaveLength(1)
  })

  test('ends when the orchestrator settles its call', async () => {
    const answer = ask()
    await asked()
    const fact = { type: 'tool-settled' as const, turn: 1, seen: 1, call, tool: 'ask' }
    await append({ kind: 'turn', fact: { ...fact, outcome: 'unknown', message: 'lost' } })
    expect(await answer).toEqual({ action: 'cancel' })
  })

  test('may send the user to a page, but to nothing that runs code', async () => {
    const page = (url: string) => ask({ mode: 'url', message: 'Pay', url, elicitationId: 'e' })
    const answer = page('https://example.com/pay')
    const [question] = await asked()
    expect(question).toMatchObject({ mode: 'url', url: 'https://example.com/pay' })
    expect(question).not.toHaveProperty('requestedSchema')
    await say(question?.id ?? '', 'accept')
    expect(await answer).toEqual({ action: 'accept' })
    await expect(page('javascript:alert(1)')).rejects.toMatchObject({ code: 'invalid' })
  })

  test('that is too large is refused', async () => {
    await expect(ask({ ...form, message: 'x'.repeat(70_000) })).rejects.toMatchObject({
      code: 'exhausted',
    })
  })

  test('belongs to the call that caused it, where the server says so', async () => {
    const second = running({ call: `${session}-0-1` as ToolCallId, envelope: newEnvelope('local') })
    using _second = deps.calls.add(second)
    void ask(form, envelope.requestId)
    expect((await asked()).map((each) => each.call)).toEqual([call])
    void ask()
    expect((await asked(2)).map((each) => each.call)).toEqual([call, second.call])
    ended.abort()
  })

  test('outside any call of its session is refused', async () => {
    const request = {
      kind: 'elicitation' as const,
      server: 'test',
      params: form,
      signal: ended.signal,
    }
    const elsewhere = { session: newSessionId(), server: 'test', request }
    await expect(answerServerRequest(deps, elsewhere)).rejects.toMatchObject({ code: 'invalid' })
    await expect(
      answerServerRequest(deps, { ...elsewhere, session, server: 'another' }),
    ).rejects.toMatchObject({ code: 'invalid' })
  })

  test('beyond a few open ones is refused, until one is answered', async () => {
    const answers = Array.from({ length: 8 }, () => ask())
    const questions = await asked(8)
    await expect(ask()).rejects.toMatchObject({ code: 'exhausted' })
    await say(questions[0]?.id ?? '', 'decline')
    await Promise.any(answers)
    void ask()
    await asked(9)
    ended.abort()
    await Promise.all(answers)
  })
})

describe('a sampling request', () => {
  const request = (more: Partial<Params<'sampling'>> = {}): Promise<unknown> =>
    answerServerRequest(deps, {
      session,
      server: 'test',
      request: {
        kind: 'sampling',
        server: 'test',
        params: {
          messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
          maxTokens: 10,
          ...more,
        },
        signal: withdrawn.signal,
      },
    })
  const text = (said: string) => ({ type: 'text' as const, text: said })

  test('is answered by a worker', async () => {
    let got: SampleRequest | undefined
    const reply = {
      model: 'm',
      role: 'assistant' as const,
      content: text('hello'),
      stopReason: 'endTurn' as const,
    }
    const counted = { provider: 'p', usage: { outputTokens: 3 } }
    using _worker = other.serve(sample, {}, ({ request: taken, envelope: { deadline } }) => {
      got = taken
      expect(deadline).toBeGreaterThan(Date.now())
      expect(deadline).toBeLessThanOrEqual(Date.now() + 60_000)
      return { ...reply, ...counted }
    })
    await other.ping()
    const messages = [
      { role: 'user' as const, content: [text('a'), text('b')] },
      { role: 'assistant' as const, content: text('c') },
    ]
    expect(await request({ messages, systemPrompt: 'short', temperature: 0.1 })).toEqual(reply)
    const { usage } = deps.calls.find(session, 'test') ?? {}
    expect(usage).toEqual([{ provider: 'p', model: 'm', generations: 1, outputTokens: 3 }])
    expect(got).toEqual({
      id: expect.any(String),
      messages: [
        { role: 'user', content: text('a\nb') },
        { role: 'assistant', content: text('c') },
      ],
      maxTokens: 10,
      systemPrompt: 'short',
      temperature: 0.1,
    })
  })

  test('that no worker takes fails at once', async () => {
    await expect(request()).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('whose model fails tells the server why', async () => {
    using _worker = other.serve(sample, {}, () => {
      throw new BusError('denied', 'the key is wrong')
    })
    await other.ping()
    await expect(request()).rejects.toMatchObject({ code: 'denied', message: 'the key is wrong' })
  })

  test.each([
    ['its call is over', () => ended.abort()],
    ['its server takes it back', () => withdrawn.abort()],
  ])('is cancelled at its worker once %s, also before that has begun', async (_, end) => {
    const taken = Promise.withResolvers<GenerationId>()
    const hasCancel = Promise.withResolvers<never>()
    using _worker = other.serve(sample, {}, ({ request: { id = '' as GenerationId } }) => {
      taken.resolve(id)
      return hasCancel.promise
    })
    await other.ping()
    const answer = request()
    const refused = expect(answer).rejects.toMatchObject({ code: 'cancelled' })
    const generation = await taken.promise
    end()
    await refused
    // It has asked in vain once; now there is somebody to hear it.
    using _control = other.serve(generationControl, { generation }, ({ request: { action } }) => {
      if (action === 'cancel') hasCancel.reject(new BusError('cancelled', 'over'))
      return { worker: 'w' }
    })
    await expect(hasCancel.promise).rejects.toMatchObject({ code: 'cancelled' })
  })

  test.each<[string, string, object]>([
    [
      'pictures',
      'invalid',
      { messages: [{ role: 'user', content: { type: 'image', data: '', mimeType: 'image/png' } }] },
    ],
    ['tools', 'invalid', { tools: [] }],
    ['too much text', 'exhausted', { systemPrompt: 'x'.repeat(600_000) }],
    ['no message', 'invalid', { messages: [] }],
  ])('with %s is refused as %s', async (_, code, more) => {
    await expect(request(more)).rejects.toMatchObject({ code })
  })
})

test('a session has no roots of its own, and log messages need no answer', async () => {
  const from = { session, server: 'test' }
  const { signal } = ended
  const roots = { kind: 'roots' as const, server: 'test', signal }
  expect(await answerServerRequest(deps, { ...from, request: roots })).toEqual({ roots: [] })
  const said = { level: 'info' as const, data: 'x', isOutsideCalls: true }
  const log = { kind: 'log' as const, server: 'test', ...said }
  expect(await answerServerRequest(deps, { ...from, request: log })).toBeUndefined()
})

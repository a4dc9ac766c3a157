// Requests of servers over a real broker: sent through one connection, answered through another.
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
import type { ServerRequest } from '@mcp-host/upstream'
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
  // Server requests are logged with these methods only.
  const logger = { info: quiet, warn: quiet } as unknown as Logger
  deps = { bus, logger, calls: new RunningCalls() }
  deps.calls.add(running())
})

// The ping returns once the broker has removed the subscriptions of the test.
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

/** Waits for `count` elicitations in the log. */
async function loggedElicitations(count = 1): Promise<InputRequired[]> {
  return eventually(async () => {
    const entries = await other.sessions.read(session, 0)
    const elicitations = entries.flatMap(({ fact }) =>
      fact !== undefined && 'type' in fact && fact.type === 'input-required' ? [fact] : [],
    )
    return elicitations.length >= count && elicitations
  })
}

const append = (fact: LogFact): Promise<{ seq: number }> =>
  other.sessions.append(session, fact, { envelope, messageId: crypto.randomUUID() })

const sendAnswer = (id: string, action: InputAnswered['action'], name?: string): Promise<unknown> =>
  append({
    kind: 'control',
    fact: {
      type: 'input-answered',
      id,
      action,
      ...(name === undefined ? {} : { content: { name } }),
    },
  })

/** The bus, which runs a hook before each append. */
function beforeAppend(hook: (fact: LogFact) => Promise<void>): Bus {
  const { sessions, clock } = bus
  const store: typeof sessions.append = async (of, fact, options) => {
    await hook(fact)
    return sessions.append(of, fact, options)
  }
  const follow: typeof sessions.follow = (...args) => sessions.follow(...args)
  // Elicitations use only these members.
  return { clock, sessions: { append: store, follow } } as unknown as Bus
}

const closings = async (): Promise<unknown[]> =>
  (await other.sessions.read(session, 0)).flatMap(({ fact }) =>
    fact !== undefined && 'type' in fact && fact.type === 'input-closed' ? [fact.reason] : [],
  )

describe('elicitations', () => {
  test('an elicitation is recorded in the log, and its answer is read from there', async () => {
    const before = Date.now()
    const answer = ask()
    const [elicitation] = await loggedElicitations()
    expect(elicitation).toMatchObject({
      call,
      attempt: 1,
      server: 'test',
      tool: 'ask',
      kind: 'elicitation',
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: form.requestedSchema,
    })
    expect(elicitation?.expiresAt).toBeGreaterThan(before + 299_000)
    await sendAnswer(elicitation?.id ?? '', 'accept', 'Ann')
    expect(await answer).toEqual({ action: 'accept', content: { name: 'Ann' } })
    expect(await closings()).toEqual([])
  })

  test.each(['decline', 'cancel'] as const)(
    'an elicitation may be answered with %s',
    async (action) => {
      const answer = ask()
      const [elicitation] = await loggedElicitations()
      await sendAnswer(elicitation?.id ?? '', action)
      expect(await answer).toEqual({ action })
    },
  )

  test('an elicitation takes the first answer with its id', async () => {
    const answers = [ask(), ask()]
    const [first, second] = await loggedElicitations(2)
    await sendAnswer(second?.id ?? '', 'accept', 'Bob')
    await sendAnswer(first?.id ?? '', 'accept', 'Ann')
    await sendAnswer(first?.id ?? '', 'accept', 'Cid')
    const results = (await Promise.all(answers)) as { content: { name: string } }[]
    expect(results.map(({ content }) => content.name).toSorted()).toEqual(['Ann', 'Bob'])
  })

  test('an elicitation without an answer in time is closed in the log and cancelled', async () => {
    deps = { ...deps, inputTimeoutMs: 1 }
    expect(await ask()).toEqual({ action: 'cancel' })
    expect(await closings()).toEqual(['expired'])
  })

  test('an answer in the log before the end of its elicitation is taken although it is read late', async () => {
    // The answer is appended after the timeout and before the entry of the timeout.
    deps = {
      ...deps,
      inputTimeoutMs: 1,
      bus: beforeAppend(async ({ fact }) => {
        if ('type' in fact && fact.type === 'input-closed')
          await sendAnswer(fact.id, 'accept', 'Ann')
      }),
    }
    expect(await ask()).toEqual({ action: 'accept', content: { name: 'Ann' } })
  })

  test('an elicitation that its server withdraws is closed in the log', async () => {
    const answer = ask()
    await loggedElicitations()
    withdrawn.abort()
    expect(await answer).toEqual({ action: 'cancel' })
    await eventually(async () => (await closings()).length === 1)
    expect(await closings()).toEqual(['withdrawn'])
  })

  test('an elicitation that its server withdraws during the append is closed in the log', async () => {
    deps = { ...deps, bus: beforeAppend(async () => withdrawn.abort()) }
    expect(await ask()).toEqual({ action: 'cancel' })
    await eventually(async () => (await closings()).length === 1)
  })

  test('an elicitation ends with its call', async () => {
    const answer = ask()
    await loggedElicitations()
    ended.abort()
    expect(await answer).toEqual({ action: 'cancel' })
    expect(await ask()).toEqual({ action: 'cancel' })
    expect(await loggedElicitations()).toHaveLength(1)
  })

  test('an elicitation ends when the orchestrator settles its call', async () => {
    const answer = ask()
    await loggedElicitations()
    const fact = { type: 'tool-settled' as const, turn: 1, seen: 1, call, tool: 'ask' }
    await append({ kind: 'turn', fact: { ...fact, outcome: 'unknown', message: 'lost' } })
    expect(await answer).toEqual({ action: 'cancel' })
  })

  test('an elicitation may have an http URL but not one that runs code', async () => {
    const page = (url: string) => ask({ mode: 'url', message: 'Pay', url, elicitationId: 'e' })
    const answer = page('https://example.com/pay')
    const [elicitation] = await loggedElicitations()
    expect(elicitation).toMatchObject({ mode: 'url', url: 'https://example.com/pay' })
    expect(elicitation).not.toHaveProperty('requestedSchema')
    await sendAnswer(elicitation?.id ?? '', 'accept')
    expect(await answer).toEqual({ action: 'accept' })
    await expect(page('javascript:alert(1)')).rejects.toMatchObject({ code: 'invalid' })
  })

  test('an elicitation that is too large is refused', async () => {
    await expect(ask({ ...form, message: 'x'.repeat(70_000) })).rejects.toMatchObject({
      code: 'exhausted',
    })
  })

  test('an elicitation belongs to the call that the server names, else to the latest', async () => {
    const second = running({ call: `${session}-0-1` as ToolCallId, envelope: newEnvelope('local') })
    using _second = deps.calls.add(second)
    void ask(form, envelope.requestId)
    expect((await loggedElicitations()).map((each) => each.call)).toEqual([call])
    void ask()
    expect((await loggedElicitations(2)).map((each) => each.call)).toEqual([call, second.call])
    ended.abort()
  })

  test('an elicitation outside of any call of its session is refused', async () => {
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

  test('an elicitation beyond the limit of open ones is refused until one is answered', async () => {
    const answers = Array.from({ length: 8 }, () => ask())
    const elicitations = await loggedElicitations(8)
    await expect(ask()).rejects.toMatchObject({ code: 'exhausted' })
    await sendAnswer(elicitations[0]?.id ?? '', 'decline')
    await Promise.any(answers)
    void ask()
    await loggedElicitations(9)
    ended.abort()
    await Promise.all(answers)
  })
})

describe('sampling requests', () => {
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
  const block = (text: string) => ({ type: 'text' as const, text })

  test('a sampling request is answered by a worker', async () => {
    let received: SampleRequest | undefined
    const reply = {
      model: 'm',
      role: 'assistant' as const,
      content: block('hello'),
      stopReason: 'endTurn' as const,
    }
    const counted = { provider: 'p', usage: { outputTokens: 3 } }
    using _worker = other.serve(sample, {}, ({ request: taken, timeLeftMs }) => {
      received = taken
      expect(timeLeftMs).toBeGreaterThan(0)
      expect(timeLeftMs).toBeLessThan(61_000)
      return { ...reply, ...counted }
    })
    await other.ping()
    const messages = [
      { role: 'user' as const, content: [block('a'), block('b')] },
      { role: 'assistant' as const, content: block('c') },
    ]
    expect(await request({ messages, systemPrompt: 'short', temperature: 0.1 })).toEqual(reply)
    const { usage } = deps.calls.find(session, 'test') ?? {}
    expect(usage).toEqual([{ provider: 'p', model: 'm', generations: 1, outputTokens: 3 }])
    expect(received).toEqual({
      id: expect.any(String),
      messages: [
        { role: 'user', content: block('a\nb') },
        { role: 'assistant', content: block('c') },
      ],
      maxTokens: 10,
      systemPrompt: 'short',
      temperature: 0.1,
    })
  })

  test('a sampling request without a worker fails at once', async () => {
    await expect(request()).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('a sampling request whose model fails is answered with the reason', async () => {
    using _worker = other.serve(sample, {}, () => {
      throw new BusError('denied', 'the key is wrong')
    })
    await other.ping()
    await expect(request()).rejects.toMatchObject({ code: 'denied', message: 'the key is wrong' })
  })

  test.each([
    ['its call has ended', () => ended.abort()],
    ['its server has withdrawn it', () => withdrawn.abort()],
  ])(
    'a sampling request is cancelled at its worker once %s, also before the worker has started',
    async (_, end) => {
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
      // The first cancel was sent before the worker served its control subject.
      using _control = other.serve(generationControl, { generation }, ({ request: { action } }) => {
        if (action === 'cancel') hasCancel.reject(new BusError('cancelled', 'over'))
        return { worker: 'w' }
      })
      await expect(hasCancel.promise).rejects.toMatchObject({ code: 'cancelled' })
    },
  )

  test.each<[string, string, object]>([
    [
      'images',
      'invalid',
      { messages: [{ role: 'user', content: { type: 'image', data: '', mimeType: 'image/png' } }] },
    ],
    ['tools', 'invalid', { tools: [] }],
    ['too much text', 'exhausted', { systemPrompt: 'x'.repeat(600_000) }],
    ['no message', 'invalid', { messages: [] }],
  ])('a sampling request with %s is refused as %s', async (_, code, more) => {
    await expect(request(more)).rejects.toMatchObject({ code })
  })
})

test('a chat session answers with empty roots, and log messages get no answer', async () => {
  const from = { session, server: 'test' }
  const { signal } = ended
  const roots = { kind: 'roots' as const, server: 'test', signal }
  expect(await answerServerRequest(deps, { ...from, request: roots })).toEqual({ roots: [] })
  const fields = { level: 'info' as const, data: 'x', isOutsideCalls: true }
  const log = { kind: 'log' as const, server: 'test', ...fields }
  expect(await answerServerRequest(deps, { ...from, request: log })).toBeUndefined()
})

import type { GenerateRequest, GenerationId, SessionId, TextDelta } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Model, ModelRequest, StreamPart } from '../model.ts'
import { GenerationText } from './generation-text.ts'
import { runGeneration } from './run-generation.ts'

const generation = 'session-0' as GenerationId
const never = AbortSignal.any([])

function request(more: Partial<GenerateRequest> = {}): GenerateRequest {
  return {
    session: 'session' as SessionId,
    turn: 1,
    generation,
    messages: [{ role: 'user', text: 'hello' }],
    tools: [],
    deadline: Date.now() + 60_000,
    ...more,
  }
}

/** A model that yields these parts, then ends, throws, or waits for the abort. */
function fakeModel(parts: readonly StreamPart[], end: Error | 'hang' | 'end' = 'end'): Model {
  return {
    provider: 'fake',
    model: 'fake-1',
    async *stream(_: ModelRequest, { signal }) {
      yield* parts
      if (end === 'end') return
      if (end !== 'hang') throw end
      await new Promise((_resolve, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    },
  }
}

let deltas: TextDelta[]
let firstTexts: number
beforeEach(() => {
  deltas = []
  firstTexts = 0
})

async function run(
  model: Model,
  more: Partial<GenerateRequest> = {},
  signal = never,
): Promise<Awaited<ReturnType<typeof runGeneration>>> {
  const deps = {
    model,
    text: new GenerationText(generation),
    readPrompt: async (prompt: GenerateRequest) => prompt,
    emit: (delta: TextDelta) => void deltas.push(delta),
    onFailure: () => {},
    onFirstText: () => void firstTexts++,
  }
  return runGeneration(deps, request(more), { signal })
}

const text = (content: string): StreamPart => ({ type: 'text-delta', text: content })
const reasoning = (content: string): StreamPart => ({ type: 'reasoning-delta', text: content })
const call = (name: string, json: string): StreamPart => ({
  type: 'tool-call',
  name,
  arguments: json,
})

test('a reply names the model that answered and has its notices', async () => {
  const parts: StreamPart[] = [
    { type: 'notice', text: 'fake cannot be reached; other answers instead' },
    { type: 'answering', provider: 'other', model: 'other-1' },
    { type: 'progress' },
    text('Hi'),
  ]
  expect(await run(fakeModel(parts))).toEqual({
    generation,
    provider: 'other',
    model: 'other-1',
    notices: ['fake cannot be reached; other answers instead'],
    outcome: 'completed',
    content: [{ type: 'text', text: 'Hi' }],
  })
})

test('a reply has its content, model and usage', async () => {
  const usage = { inputTokens: 3, outputTokens: 2 }
  const parts = [reasoning('hm'), text('Hello, '), text('world'), { type: 'end' as const, usage }]
  expect(await run(fakeModel(parts))).toEqual({
    generation,
    provider: 'fake',
    model: 'fake-1',
    outcome: 'completed',
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hello, world' },
    ],
    usage,
  })
})

test('all text has been sent when the reply is complete', async () => {
  await run(fakeModel([reasoning('hm'), text('Hel'), text('lo')]))
  expect(deltas.map((delta) => delta.text).join('')).toBe('hmHello')
})

test('the first non-empty text is reported once', async () => {
  await run(fakeModel([text(''), call('a', ''), { type: 'end' }]))
  expect(firstTexts).toBe(0)
  await run(fakeModel([text(''), reasoning('hm'), text('a'), text('b')]))
  expect(firstTexts).toBe(1)
})

test('the request to a model has the conversation, tools, system prompt and temperature', async () => {
  const requests: ModelRequest[] = []
  const model: Model = {
    ...fakeModel([]),
    async *stream(each) {
      requests.push(each)
      yield { type: 'end' }
    },
  }
  const { messages, tools } = request()
  await run(model, { system: 'be kind', temperature: 0 })
  await run(model)
  expect(requests).toEqual([
    { messages, tools, system: 'be kind', temperature: 0 },
    { messages, tools },
  ])
})

test('a failed reply keeps its partial content and the error', async () => {
  const reason = new BusError('unavailable', 'gemini broke off its answer')
  expect(await run(fakeModel([text('half'), text(' a'), call('a', '{}')], reason))).toMatchObject({
    outcome: 'failed',
    content: [{ text: 'half a' }, { name: 'a' }],
    error: { code: 'unavailable', message: reason.message },
  })
  expect(deltas.map((delta) => delta.text).join('')).toBe('half a')
})

test('an internal error fails a reply without its details', async () => {
  const result = await run(fakeModel([], new TypeError('x is not a function')))
  expect(result.error).toEqual({ code: 'internal', message: 'internal error' })
})

test('a cancelled reply keeps its partial content', async () => {
  const cancel = new AbortController()
  const model = fakeModel([text('so far')], 'hang')
  const end = run(model, {}, cancel.signal)
  await vi.waitUntil(() => firstTexts === 1)
  cancel.abort()
  const result = await end
  expect(result).toMatchObject({
    outcome: 'cancelled',
    content: [{ text: 'so far' }],
    usage: { outputTokens: 2, isEstimate: true },
  })
  expect(result).not.toHaveProperty('error')
})

test('a reply of a model that ignores the abort is cancelled', async () => {
  const result = await run(fakeModel([text('all of it')]), {}, AbortSignal.abort())
  expect(result.outcome).toBe('cancelled')
})

test('a reply that passes its time limit fails with its partial content', async () => {
  const model = fakeModel([text('so far')], 'hang')
  expect(await run(model, { limitMs: 20 })).toMatchObject({
    outcome: 'failed',
    content: [{ text: 'so far' }],
    error: { code: 'deadline', message: 'the model did not finish in time' },
  })
})

test('the deadline by the clock of an orchestrator has no effect', async () => {
  expect(await run(fakeModel([text('all')]), { deadline: 0 })).toMatchObject({
    outcome: 'completed',
  })
})

test('calls get ids in order, and the server and tool of their names', async () => {
  const tools = [{ safeName: 'test__echo', server: 'test', tool: 'echo', inputSchema: {} }]
  const parts = [
    call('test__echo', '{"text":"hi"}'),
    call('imagined', '{}'),
    call('test.echo', '{}'),
  ]
  const { content } = await run(fakeModel(parts), { tools })
  expect(content).toEqual([
    {
      type: 'tool-call',
      id: `${generation}-0`,
      name: 'test__echo',
      server: 'test',
      tool: 'echo',
      arguments: { text: 'hi' },
    },
    { type: 'tool-call', id: `${generation}-1`, name: 'imagined', arguments: {} },
    {
      type: 'tool-call',
      id: `${generation}-2`,
      name: 'test__echo',
      server: 'test',
      tool: 'echo',
      arguments: {},
    },
  ])
})

test.each([
  ['', {}],
  [' ', {}],
  ['[1]', [1]],
  ['null', null],
  ['{"text": broken', '{"text": broken'],
])('the arguments %j are recorded as %j', async (json, expected) => {
  const { content } = await run(fakeModel([call('a', json)]))
  expect(content).toMatchObject([{ arguments: expected }])
})

test('arguments that are nested too deep are recorded as text', async () => {
  const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const result = await run(fakeModel([call('a', deep), call('b', '{"x":1}')]))
  expect(() => JSON.stringify(result)).not.toThrow()
  expect(result.content).toMatchObject([{ arguments: deep }, { arguments: { x: 1 } }])
})

test('provider metadata of calls and blocks is recorded', async () => {
  const providerMetadata = { google: { thoughtSignature: 's' } }
  const { content } = await run(
    fakeModel([
      reasoning('hm'),
      { type: 'block-end', providerMetadata },
      { type: 'tool-call', name: 'a', arguments: '{}', providerMetadata },
    ]),
  )
  expect(content).toMatchObject([
    { type: 'reasoning', providerMetadata },
    { type: 'tool-call', providerMetadata },
  ])
})

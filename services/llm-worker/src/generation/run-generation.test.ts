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

/** Writes these parts; then ends, or fails, or waits for the abort. */
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
    readPrompt: async (asked: GenerateRequest) => asked,
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

test('a reply says who gave it in place of another, and what else there is to know', async () => {
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

test('a reply is kept whole, with who wrote it and what it cost', async () => {
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

test('all text has gone out by the time the reply is complete', async () => {
  await run(fakeModel([reasoning('hm'), text('Hel'), text('lo')]))
  expect(deltas.map((delta) => delta.text).join('')).toBe('hmHello')
})

test('the first text is told once, and an empty one is none', async () => {
  await run(fakeModel([text(''), call('a', ''), { type: 'end' }]))
  expect(firstTexts).toBe(0)
  await run(fakeModel([text(''), reasoning('hm'), text('a'), text('b')]))
  expect(firstTexts).toBe(1)
})

test('the model is asked with the conversation, the tools and the system prompt', async () => {
  const asked: ModelRequest[] = []
  const model: Model = {
    ...fakeModel([]),
    async *stream(each) {
      asked.push(each)
      yield { type: 'end' }
    },
  }
  const { messages, tools } = request()
  await run(model, { system: 'be kind', temperature: 0 })
  await run(model)
  expect(asked).toEqual([
    { messages, tools, system: 'be kind', temperature: 0 },
    { messages, tools },
  ])
})

test('a reply that breaks off keeps what was written, and why', async () => {
  const reason = new BusError('unavailable', 'gemini broke off its answer')
  expect(await run(fakeModel([text('half'), text(' a'), call('a', '{}')], reason))).toMatchObject({
    outcome: 'failed',
    content: [{ text: 'half a' }, { name: 'a' }],
    error: { code: 'unavailable', message: reason.message },
  })
  expect(deltas.map((delta) => delta.text).join('')).toBe('half a')
})

test('a fault of ours is a failure that tells nothing of it', async () => {
  const result = await run(fakeModel([], new TypeError('x is not a function')))
  expect(result.error).toEqual({ code: 'internal', message: 'internal error' })
})

test('a cancelled reply keeps what was written', async () => {
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

test('a model that does not heed the abort is cancelled all the same', async () => {
  const result = await run(fakeModel([text('all of it')]), {}, AbortSignal.abort())
  expect(result.outcome).toBe('cancelled')
})

test('a model that is not done in time has failed, with what was written', async () => {
  const model = fakeModel([text('so far')], 'hang')
  expect(await run(model, { deadline: Date.now() + 20 })).toMatchObject({
    outcome: 'failed',
    content: [{ text: 'so far' }],
    error: { code: 'deadline', message: 'the model did not finish in time' },
  })
})

test('a request that comes after its deadline fails at once', async () => {
  const result = await run(fakeModel([], 'hang'), { deadline: Date.now() - 1_000 })
  expect(result.error?.code).toBe('deadline')
})

test('calls are numbered and carry the server and tool that were offered under their names', async () => {
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
])('arguments %j are kept as %j', async (json, expected) => {
  const { content } = await run(fakeModel([call('a', json)]))
  expect(content).toMatchObject([{ arguments: expected }])
})

test('arguments that are nested too deep stay text, and leave other calls as they are', async () => {
  const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const result = await run(fakeModel([call('a', deep), call('b', '{"x":1}')]))
  expect(() => JSON.stringify(result)).not.toThrow()
  expect(result.content).toMatchObject([{ arguments: deep }, { arguments: { x: 1 } }])
})

test('what the provider wants back with a call or a text is kept', async () => {
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

import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { beforeEach, expect, test, vi } from 'vitest'

import { createLlmServer, type ModelAnswer, type Question } from './index.ts'

/** What each model says; an error is thrown. */
let says: Record<string, string | Error | Promise<never>>
let asked: Question[]
let signals: AbortSignal[]
let client: Client
beforeEach(async () => {
  says = { 'a/one': 'Yes.', 'b/two': '**yes**', 'c/three': 'No' }
  asked = []
  signals = []
  const ask = async (question: Question, signal: AbortSignal): Promise<ModelAnswer> => {
    asked.push(question)
    signals.push(signal)
    const { model = 'a/one' } = question
    const over = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => over.reject(signal.reason))
    const said = await Promise.race([says[model], over.promise])
    if (said instanceof Error) throw said
    if (said === undefined) throw new Error(`there is no model ${model}`)
    return { model, text: said, stopReason: 'endTurn', usage: { inputTokens: 3, outputTokens: 2 } }
  }
  const known = (id: string) => ({ id, provider: id.slice(0, 1), isDefault: id === 'a/one' })
  const server = createLlmServer({ list: () => ['a/one', 'b/two'].map(known), ask }, '1.0.0')
  client = new Client({ name: 'test', version: '1.0.0' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(theirs), client.connect(ours)])
})

const prompt = 'Is water wet?'
const models = ['a/one', 'b/two', 'c/three']

async function call(name: string, given: object) {
  const progress: unknown[] = []
  const result = await client.callTool(
    { name, arguments: { ...given } },
    { onprogress: (report) => progress.push(report) },
  )
  // The schemas of the tools are checked by the client.
  return { ...result, found: result.structuredContent as Record<string, unknown>, progress }
}

test('the tools have the names of the listing, with schemas of what they return', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'llm_list_models',
    'llm_chat',
    'llm_parallel',
    'llm_consensus',
  ])
  for (const { name, outputSchema, annotations } of tools) {
    expect(outputSchema?.type).toBe('object')
    // An answer costs tokens, and must not be shared or repeated.
    expect(annotations?.readOnlyHint).toBe(name === 'llm_list_models')
  }
  const temperature = { type: 'number', minimum: 0, maximum: 2, default: 0.7 }
  const chat = tools.find(({ name }) => name === 'llm_chat')?.inputSchema.properties
  expect(chat).toMatchObject({ temperature, max_tokens: { default: 1_000 } })
})

test('models are listed, all or those of a provider', async () => {
  expect((await call('llm_list_models', {})).found).toEqual({
    models: [
      { id: 'a/one', provider: 'a', isDefault: true },
      { id: 'b/two', provider: 'b', isDefault: false },
    ],
  })
  expect((await call('llm_list_models', { provider: 'b' })).found['models']).toHaveLength(1)
})

test('a question has the defaults, and what its caller says', async () => {
  expect(await call('llm_chat', { prompt })).toMatchObject({
    content: [{ type: 'text', text: 'Yes.' }],
    found: { model: 'a/one', response: 'Yes.', stopReason: 'endTurn' },
  })
  const messages = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: prompt },
  ]
  const given = {
    model: 'b/two',
    messages,
    system_prompt: 'Be kind.',
    temperature: 0,
    max_tokens: 7,
  }
  await call('llm_chat', given)
  expect(asked).toEqual([
    { messages: [{ role: 'user', text: prompt }], temperature: 0.7, maxTokens: 1_000 },
    {
      model: 'b/two',
      systemPrompt: 'Be kind.\n\nBe short.',
      messages: [
        { role: 'user', text: 'Hello' },
        { role: 'assistant', text: 'Hello!' },
        { role: 'user', text: prompt },
      ],
      temperature: 0,
      maxTokens: 7,
    },
  ])
})

test.each([
  [{}, 'write a prompt'],
  [{ messages: [{ role: 'assistant', content: 'Hello!' }] }, 'the last one is of the user'],
  [{ prompt, model: 'd/none' }, 'there is no model d/none'],
  [{ prompt, temperature: 3 }, 'temperature'],
  [{ prompt, max_tokens: 0 }, 'max_tokens'],
])('a question that cannot be answered says why: %j', async (given, reason) => {
  const { isError, content } = await call('llm_chat', given)
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain(reason)
})

test('a model that fails is told with others that would answer', async () => {
  says['b/two'] = new Error('its key was refused')
  const { content } = await call('llm_chat', { prompt, model: 'b/two' })
  const text = 'its key was refused. Other models: a/one'
  expect(content).toEqual([{ type: 'text', text }])
})

test('several models answer at once, with progress; one that fails does not fail the others', async () => {
  says['b/two'] = new Error('its key was refused')
  const { found, isError, progress } = await call('llm_parallel', { models, prompt })
  const usage = { inputTokens: 3, outputTokens: 2 }
  expect(found['responses']).toEqual([
    { model: 'a/one', response: 'Yes.', usage },
    { model: 'b/two', error: 'its key was refused' },
    { model: 'c/three', response: 'No', usage },
  ])
  expect(isError).toBeUndefined()
  await vi.waitFor(() => expect(progress).toHaveLength(3))
  expect(progress).toContainEqual({
    progress: expect.any(Number),
    total: 3,
    message: 'b/two failed: its key was refused',
  })
})

test('a model that is slow does not fail the others either', async () => {
  says['c/three'] = new Promise<never>(() => undefined)
  const given = { models, prompt, timeout_seconds: 1 }
  const { found } = await call('llm_consensus', given)
  expect(found).toMatchObject({ consensus: 'Yes.', agreementCount: 2, totalModels: 3 })
  expect(JSON.stringify(found)).toContain('it did not answer within 1 s')
})

test('models agree whose answers are the same but for their form', async () => {
  const { found } = await call('llm_consensus', { models, prompt })
  expect(found).toMatchObject({
    consensus: 'Yes.',
    agreementCount: 2,
    totalModels: 3,
    allResponses: [
      { model: 'a/one', response: 'Yes.', agrees: true },
      { model: 'b/two', response: '**yes**', agrees: true },
      { model: 'c/three', response: 'No', agrees: false },
    ],
  })
  says['a/one'] = 'No way.'
  expect((await call('llm_consensus', { models, prompt })).found).toMatchObject({
    consensus: 'No way.',
    agreementCount: 1,
  })
  says['c/three'] = 'Yes'
  expect((await call('llm_consensus', { models, prompt })).found).toMatchObject({
    consensus: '**yes**',
    agreementCount: 2,
  })
  const twice = await call('llm_consensus', { models: [...models, 'a/one'], prompt })
  expect(JSON.stringify(twice.content)).toContain('twice')
  const few = await call('llm_consensus', { models: models.slice(1), prompt })
  expect(few.isError).toBe(true)
})

test('a judge finds models that agree in other words', async () => {
  says['c/three'] = 'It certainly is.'
  says['d/judge'] = 'Here: {"agreeing": [3, 1, 9, 3], "answer": "Water is wet."}'
  const { found } = await call('llm_consensus', { models, prompt, judge: 'd/judge' })
  expect(found).toMatchObject({
    consensus: 'Water is wet.',
    agreementCount: 2,
    judgedBy: 'd/judge',
    allResponses: [{ agrees: true }, { agrees: false }, { agrees: true }],
  })
  expect(asked.at(-1)?.messages[0]?.text).toContain('<answer number="3">\nIt certainly is.')
})

test.each([['I cannot.'], ['{"agreeing": [], "answer": "x"}'], ['{"agreeing": [1]}'], ['{]}']])(
  'a judge that says %j decides nothing',
  async (said) => {
    says['d/judge'] = said
    const { found } = await call('llm_consensus', { models, prompt, judge: 'd/judge' })
    expect(found).toMatchObject({ consensus: 'Yes.', agreementCount: 2 })
    expect(found['judgeError']).toContain('JSON')
    expect(found).not.toHaveProperty('judgedBy')
  },
)

test('without any answer there is no consensus, but every reason', async () => {
  for (const model of models) says[model] = new Error(`${model} is away`)
  const { isError, content } = await call('llm_consensus', { models, prompt })
  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toContain('b/two: b/two is away')
})

test('the end of a request ends the work of all models', async () => {
  for (const model of models) says[model] = new Promise<never>(() => undefined)
  const cancel = new AbortController()
  const given = { name: 'llm_parallel', arguments: { models, prompt } }
  const called = client.callTool(given, { signal: cancel.signal })
  called.catch(() => undefined)
  await vi.waitFor(() => expect(signals).toHaveLength(3))
  cancel.abort()
  await vi.waitFor(() => expect(signals.every(({ aborted }) => aborted)).toBe(true))
  await expect(called).rejects.toThrow()
})

test.each([
  ['5', '-5'],
  ['50', '50%'],
  ['x2', 'x^2'],
  ['1.5', '15'],
  ['\u0915\u093F', '\u0915\u093E'],
])('%s is another answer than %s', async (one, other) => {
  says = { 'a/one': one, 'b/two': other, 'c/three': 'neither' }
  const { found } = await call('llm_consensus', { models, prompt })
  expect(found['agreementCount']).toBe(1)
})

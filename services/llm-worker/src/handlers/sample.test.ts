import { setTimeout as delay } from 'node:timers/promises'
import type { SampleRequest } from '@mcp-host/contracts'
import { BusError, childEnvelope, newEnvelope, sample } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, expect, test } from 'vitest'
import type { Model, ModelRequest, StreamPart } from '../model.ts'
import type { SampleDeps } from './sample.ts'
import { runSample } from './sample.ts'

let asked: ModelRequest[]
let parts: StreamPart[]
let failure: Error | undefined
/** The model hangs until its signal. */
let hangs: boolean
let hasLeft: boolean
let outcomes: string[]
let deps: SampleDeps
beforeEach(() => {
  asked = []
  parts = ['Hello', ', ', 'world', '.'].map((text) => ({ type: 'text-delta', text }))
  failure = undefined
  hangs = false
  hasLeft = false
  outcomes = []
  const model: Model = {
    provider: 'test',
    model: 'test-1',
    async *stream(request, { signal }) {
      asked.push(request)
      try {
        yield* parts
        if (hangs) await delay(60_000, undefined, { signal })
        if (failure !== undefined) throw failure
        yield { type: 'end' }
      } finally {
        hasLeft = true
      }
    },
  }
  const quiet = (): void => undefined
  deps = {
    modelOf: () => model,
    logger: { info: quiet, warn: quiet } as unknown as Logger,
    events: {
      generationStarted: () => ({
        firstText: quiet,
        cancelRequested: quiet,
        ended: (outcome) => void outcomes.push(outcome),
      }),
    },
    running: new Set(),
    stopped: AbortSignal.any([]),
    bus: { id: 'us', serve: () => ({ [Symbol.dispose]: quiet }) },
  }
})

const run = (more: Partial<SampleRequest> = {}, deadline?: number): ReturnType<typeof runSample> =>
  runSample(deps, {
    request: {
      messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
      maxTokens: 100,
      ...more,
    },
    envelope: childEnvelope(newEnvelope('local'), deadline),
  })

test('a reply has all the model wrote, without its reasoning', async () => {
  parts.unshift({ type: 'reasoning-delta', text: 'hm' })
  const reply = await run()
  expect(reply).toEqual({
    model: 'test-1',
    role: 'assistant',
    content: { type: 'text', text: 'Hello, world.' },
    stopReason: 'endTurn',
    provider: 'test',
    usage: { inputTokens: 1, outputTokens: 4, reasoningTokens: 1, isEstimate: true },
  })
  expect(sample.reply.parse(reply)).toEqual(reply)
  expect([outcomes, deps.running.size]).toEqual([['completed'], 0])
})

test('the model gets the conversation and what it is to keep to, and no tools', async () => {
  const text = (said: string) => ({ type: 'text' as const, text: said })
  await run({
    messages: [
      { role: 'user', content: text('a') },
      { role: 'assistant', content: text('b') },
      { role: 'user', content: text('c') },
    ],
    systemPrompt: 'be short',
    temperature: 0.5,
    stopSequences: ['END'],
  })
  expect(asked).toEqual([
    {
      messages: [
        { role: 'user', text: 'a' },
        { role: 'assistant', content: [text('b')] },
        { role: 'user', text: 'c' },
      ],
      tools: [],
      system: 'be short',
      maxTokens: 100,
      temperature: 0.5,
      stopSequences: ['END'],
    },
  ])
})

test.each<[string, Partial<SampleRequest>, string, string]>([
  ['so many tokens', { maxTokens: 2 }, 'Hello, ', 'maxTokens'],
  [
    'a stop sequence, also across pieces',
    { stopSequences: ['', '!', 'o, w'] },
    'Hell',
    'stopSequence',
  ],
])('a reply ends after %s, and the model stops', async (_, more, text, stopReason) => {
  hangs = true
  expect(await run(more)).toMatchObject({ content: { text }, stopReason })
  expect(hasLeft).toBe(true)
})

test('a model that does not finish in time is an error that says so', async () => {
  hangs = true
  await expect(run({}, Date.now() + 1)).rejects.toMatchObject({ code: 'deadline' })
  expect(outcomes).toEqual(['failed'])
})

test('what the model fails with is told as it is', async () => {
  failure = new BusError('denied', 'the key is wrong')
  await expect(run()).rejects.toBe(failure)
  expect(deps.running.size).toBe(0)
})

test('a worker that has too much to do refuses', async () => {
  for (let index = 0; index < 32; index++) deps.running.add(Promise.resolve(index))
  await expect(run()).rejects.toMatchObject({ code: 'exhausted' })
  expect(asked).toEqual([])
})

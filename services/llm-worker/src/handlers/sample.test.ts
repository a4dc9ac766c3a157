import { setTimeout as delay } from 'node:timers/promises'
import type { SampleRequest } from '@mcp-host/contracts'
import { BusError, newEnvelope, sample } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { beforeEach, expect, test } from 'vitest'
import type { Model, ModelRequest, StreamPart } from '../model.ts'
import type { SampleDeps } from './sample.ts'
import { runSample } from './sample.ts'

let requests: ModelRequest[]
let parts: StreamPart[]
let failure: Error | undefined
/** Whether the model hangs until its signal is aborted. */
let hangs: boolean
let hasLeft: boolean
let outcomes: string[]
let deps: SampleDeps
beforeEach(() => {
  requests = []
  parts = ['Hello', ', ', 'world', '.'].map((text) => ({ type: 'text-delta', text }))
  failure = undefined
  hangs = false
  hasLeft = false
  outcomes = []
  const model: Model = {
    provider: 'test',
    model: 'test-1',
    async *stream(request, { signal }) {
      requests.push(request)
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
    // runSample logs with these methods only.
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

const run = (
  more: Partial<SampleRequest> = {},
  timeLeftMs?: number,
): ReturnType<typeof runSample> =>
  runSample(deps, {
    request: {
      messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
      maxTokens: 100,
      ...more,
    },
    envelope: newEnvelope('local'),
    timeLeftMs,
  })

test('a reply has the text of the model without its reasoning', async () => {
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

test('a reply has the text of the model as it turned out to be', async () => {
  const relabel = (kind: 'text' | 'reasoning') => ({ type: 'relabel' as const, kind })
  parts.unshift({ type: 'text-delta', text: 'plan' }, relabel('reasoning'))
  expect(await run()).toMatchObject({ content: { text: 'Hello, world.' } })
  parts = [{ type: 'reasoning-delta', text: 'plan' }, relabel('text')]
  expect(await run()).toMatchObject({ content: { text: 'plan' } })
})

test('the request to the model has the conversation and parameters, and no tools', async () => {
  const block = (text: string) => ({ type: 'text' as const, text })
  await run({
    messages: [
      { role: 'user', content: block('a') },
      { role: 'assistant', content: block('b') },
      { role: 'user', content: block('c') },
    ],
    systemPrompt: 'be short',
    temperature: 0.5,
    stopSequences: ['END'],
  })
  expect(requests).toEqual([
    {
      messages: [
        { role: 'user', text: 'a' },
        { role: 'assistant', content: [block('b')] },
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
  ['maxTokens', { maxTokens: 2 }, 'Hello, ', 'maxTokens'],
  [
    'a stop sequence across two pieces',
    { stopSequences: ['', '!', 'o, w'] },
    'Hell',
    'stopSequence',
  ],
])('a reply ends after %s, and its model is stopped', async (_, more, text, stopReason) => {
  hangs = true
  expect(await run(more)).toMatchObject({ content: { text }, stopReason })
  expect(hasLeft).toBe(true)
})

test('a reply that takes longer than its caller waits is rejected', async () => {
  hangs = true
  await expect(run({}, 1)).rejects.toMatchObject({ code: 'deadline' })
  expect(outcomes).toEqual(['failed'])
})

test('the error of the model is passed on', async () => {
  failure = new BusError('denied', 'the key is wrong')
  await expect(run()).rejects.toBe(failure)
  expect(deps.running.size).toBe(0)
})

test('a sampling request to a full worker is refused', async () => {
  for (let index = 0; index < 32; index++) deps.running.add(Promise.resolve(index))
  await expect(run()).rejects.toMatchObject({ code: 'exhausted' })
  expect(requests).toEqual([])
})

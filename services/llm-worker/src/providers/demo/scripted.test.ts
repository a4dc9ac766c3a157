import type { PromptMessage, ToolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import type { StreamPart } from '../../model.ts'
import { recordedTools } from './__fixtures__/offered-tools.ts'
import { demoModel } from './demo-model.ts'
import { fakeClock } from './__fixtures__/fake-clock.ts'

interface PlayOptions {
  readonly rounds?: number
  readonly clock?: ReturnType<typeof fakeClock>
  readonly signal?: AbortSignal
  readonly scripted?: boolean
  readonly onPart?: (part: StreamPart) => void
}

/** Plays a user message that is a script, after so many rounds of tool answers. */
async function play(script: unknown, options: PlayOptions = {}) {
  const { rounds = 0, clock = fakeClock(), signal = AbortSignal.any([]), scripted = true } = options
  const model = demoModel(
    { clock },
    { tokensPerSecond: 0, scripted, contextTokens: 32_768, realModelHint: '' },
  )
  const text = typeof script === 'string' ? script : JSON.stringify({ script })
  const round: PromptMessage = {
    role: 'tool',
    answers: [{ call: 'c' as ToolCallId, name: 't', text: '', isError: false }],
  }
  const messages: PromptMessage[] = [
    { role: 'user', text },
    ...Array.from({ length: rounds }, () => round),
  ]
  const parts: StreamPart[] = []
  let error: unknown
  try {
    for await (const part of model.stream({ messages, tools: recordedTools() }, { signal })) {
      parts.push(part)
      options.onPart?.(part)
    }
  } catch (caught) {
    error = caught
  }
  const texts = parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : []))
  return { parts, error, texts, text: texts.join('') }
}

test('each generation of the turn takes the next step', async () => {
  const script = [{ text: 'one' }, { text: 'two' }]
  expect((await play(script)).text).toBe('one')
  expect((await play(script, { rounds: 1 })).text).toBe('two')
})

test('a turn that goes on after the last step fails and says so', async () => {
  const { error } = await play([{ text: 'one' }], { rounds: 1 })
  expect(error).toMatchObject({ code: 'invalid', message: 'script: step 1 is asked for, it has 1' })
})

test('a step may reason, write and call, in this order', async () => {
  const { parts } = await play([
    {
      reasoning: 'hm',
      text: 'well',
      calls: [
        { name: 'a', arguments: { x: [1] } },
        { name: 'b', arguments: '{"broken' },
      ],
    },
  ])
  expect(parts).toEqual([
    { type: 'reasoning-delta', text: 'hm' },
    { type: 'block-end' },
    { type: 'text-delta', text: 'well' },
    { type: 'block-end' },
    { type: 'tool-call', name: 'a', arguments: '{"x":[1]}' },
    { type: 'tool-call', name: 'b', arguments: '{"broken' },
    { type: 'end', usage: expect.anything() },
  ])
})

test('tokens are numbered words', async () => {
  const { texts } = await play([{ tokens: 3 }])
  expect(texts).toEqual(['w0 ', 'w1 ', 'w2 '])
})

test('stamped tokens carry the time of their own emission in microseconds', async () => {
  const clock = fakeClock()
  const start = clock.now() * 1000
  const { texts } = await play([{ tokens: 3, stamp: true, tokensPerSecond: 50 }], { clock })
  expect(texts).toEqual([start, start + 20_000, start + 40_000].map((time) => `${time} `))
})

test('a stamp is taken when the token is asked for, not before', async () => {
  const clock = fakeClock()
  const start = clock.now() * 1000
  const { texts } = await play([{ tokens: 2, stamp: true }], {
    clock,
    onPart: () => clock.advance(7),
  })
  expect(texts).toEqual([`${start} `, `${start + 7000} `])
})

test('an error comes after so many tokens, and nothing after it', async () => {
  const { texts, parts, error } = await play([
    { tokens: 5, error: { afterTokens: 2, message: 'overloaded' } },
  ])
  expect(texts).toEqual(['w0 ', 'w1 '])
  expect(parts.at(-1)?.type).toBe('text-delta')
  expect(error).toMatchObject({ code: 'unavailable', message: 'overloaded' })
})

test.each([
  [{ code: 'denied' }, 'denied', undefined],
  [{ overflow: true }, 'invalid', 'context-overflow'],
  [{ overflow: true, code: 'exhausted' }, 'exhausted', 'context-overflow'],
])('an error may be of any kind: %j', async (more, code, reason) => {
  const { error } = await play([{ error: { afterTokens: 0, message: 'no', ...more } }])
  expect(error).toMatchObject({ code, message: 'no', reason })
})

test('a step that hangs ends with the abort and its reason', async () => {
  const controller = new AbortController()
  const onPart = (part: StreamPart) => {
    if (part.type === 'block-end') setImmediate(() => controller.abort('enough'))
  }
  const { text, error } = await play([{ text: 'so far', hang: true }], {
    signal: controller.signal,
    onPart,
  })
  expect(text).toBe('so far')
  expect(error).toBe('enough')
})

test.each([
  ['{"script": [', /^script: .*JSON/],
  [[], /^script: script: /],
  ['{"script": [{"text": "a"}], "speed": 1}', /speed/],
  [[{ txet: 'x' }], /txet/],
  [[{ tokens: -1 }], /^script: script\.0\.tokens: /],
  [[{ text: 'a', tokens: 1 }], /exclude each other/],
  [[{ stamp: true }], /"stamp" needs "tokens"/],
  [[{ text: 'fine' }, { calls: [{ name: 'x' }] }], /^script: script\.1\.calls\.0\.arguments: /],
])('a wrong script %j fails with a clear error', async (script, message) => {
  const { parts, error } = await play(script)
  expect(parts).toEqual([])
  expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) })
})

test('a script is an ordinary message unless scripts are switched on', async () => {
  const { text } = await play([{ text: 'one' }], { scripted: false })
  expect(text).toContain('demo model')
})

test('JSON that is no script is an ordinary message', async () => {
  const { text } = await play('{"hello": 1}')
  expect(text).toContain('demo model')
})

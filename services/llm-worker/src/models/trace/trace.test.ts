import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PromptMessage } from '@mcp-host/contracts'
import { BusError, toolCallId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Model, StreamPart } from '../../model.ts'
import type { Step } from '../../resilience/__fixtures__/fake-model.ts'
import { FakeModel } from '../../resilience/__fixtures__/fake-model.ts'
import { fakeClock } from '../../providers/demo/fake-clock.ts'
import { recorded } from './recorded.ts'
import { replayModel } from './replay-model.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trace-'))
  path = join(folder, 'trace.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const user = (text: string): PromptMessage => ({ role: 'user', text })
const call = toolCallId('session-0' as Parameters<typeof toolCallId>[0], 0)
const answered: PromptMessage[] = [
  { role: 'assistant', content: [{ type: 'text', text: 'let me see' }] },
  { role: 'tool', answers: [{ call, name: 't', text: 'rain', isError: false }] },
]
const asks: StreamPart[] = [
  { type: 'reasoning-delta', text: 'they want to know' },
  { type: 'block-end', providerMetadata: { p: { signature: 's' } } },
  { type: 'tool-call', name: 't', arguments: '{"a":1}' },
  { type: 'end', usage: { inputTokens: 3 } },
]
const tells: StreamPart[] = [{ type: 'text-delta', text: 'it rains' }, { type: 'end' }]
const conversation = [[user('weather?')], [user('weather?'), ...answered]]

async function read(model: Model, messages: readonly PromptMessage[]): Promise<StreamPart[]> {
  const { signal } = new AbortController()
  return Array.fromAsync(model.stream({ messages, tools: [] }, { signal }))
}

const onFailure = (error: unknown): void => {
  throw error
}

async function record(...answers: readonly (readonly Step[])[]): Promise<void> {
  const model = recorded(new FakeModel('a', ...answers), { path, onFailure })
  for (const [index] of answers.entries()) {
    await read(model, conversation[index]!).catch(() => undefined)
  }
}

const replay = (isFast = true, clock = fakeClock()): Model => replayModel({ clock, path, isFast })

test('a conversation can be had again, with tools that now return something else', async () => {
  await record(asks, tells)
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(asks)
  const otherwise = structuredClone(conversation[1]!)
  otherwise[2] = { role: 'tool', answers: [{ call, name: 't', text: 'snow', isError: false }] }
  expect(await read(model, otherwise)).toEqual(tells)
})

test('of several answers to the same each has its turn, and the last one stays', async () => {
  await record(asks)
  await record(tells)
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(asks)
  for (let again = 0; again < 2; again++) {
    expect(await read(model, conversation[0]!)).toEqual(tells)
  }
})

test('a model that cannot be recorded answers all the same, and fails as it does', async () => {
  const failures: unknown[] = []
  const options = {
    path: join(folder, 'no', 'trace'),
    onFailure: (each: unknown) => void failures.push(each),
  }
  const failure = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  const model = recorded(new FakeModel('a', tells, [failure]), options)
  expect(await read(model, conversation[0]!)).toEqual(tells)
  await expect(read(model, conversation[0]!)).rejects.toBe(failure)
  expect(failures).toHaveLength(2)
})

test('only its owner reads a recording, and one that was cut short is read so far', async () => {
  await record(asks, tells)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20))
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(asks)
  await expect(read(model, conversation[1]!)).rejects.toMatchObject({ code: 'not-found' })
})

test('an answer that failed fails again, after as much', async () => {
  const failure = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  await record([tells[0]!, failure])
  const parts: StreamPart[] = []
  const reading = async (): Promise<void> => {
    const { signal } = new AbortController()
    const request = { messages: conversation[0]!, tools: [] }
    for await (const part of replay().stream(request, { signal })) parts.push(part)
  }
  await expect(reading()).rejects.toMatchObject(failure.toInfo())
  expect(parts).toEqual([tells[0]])
})

test('what was left before its end is not recorded', async () => {
  const model = recorded(new FakeModel('a', tells), { path, onFailure })
  const { signal } = new AbortController()
  for await (const _ of model.stream({ messages: [], tools: [] }, { signal })) break
  await record(asks)
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1)
})

test('what was never asked has no answer', async () => {
  await record(asks)
  await expect(read(replay(), [user('weather today?')])).rejects.toMatchObject({
    code: 'not-found',
  })
})

test('the parts come when they came, unless they are wanted at once', async () => {
  await record([asks[0]!, 60, ...tells])
  const slow = fakeClock()
  await read(replay(false, slow), conversation[0]!)
  const waited = slow.delays.reduce((sum, ms) => sum + ms, 0)
  // As timers count, some less is possible.
  expect(waited).toBeGreaterThan(50)
  const fast = fakeClock()
  await read(replay(true, fast), conversation[0]!)
  expect(fast.delays).toEqual([])
})

test.each([
  ['{"asked":1}\n', 'line 1 is no recorded answer'],
  ['\nnonsense\n', 'line 2 is no recorded answer'],
  [undefined, 'cannot be read'],
])('a file that is none is refused: %j', (text, message) => {
  if (text !== undefined) writeFileSync(path, text)
  expect(() => replay()).toThrow(message)
})

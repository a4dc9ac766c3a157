import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PromptMessage } from '@mcp-host/contracts'
import { BusError, toolCallId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Model, StreamPart } from '../../model.ts'
import type { Step } from '../../resilience/__fixtures__/fake-model.ts'
import { FakeModel } from '../../resilience/__fixtures__/fake-model.ts'
import { fakeClock } from '../../providers/demo/__fixtures__/fake-clock.ts'
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
const callParts: StreamPart[] = [
  { type: 'reasoning-delta', text: 'they want to know' },
  { type: 'block-end', providerMetadata: { p: { signature: 's' } } },
  { type: 'tool-call', name: 't', arguments: '{"a":1}' },
  { type: 'end', usage: { inputTokens: 3 } },
]
const textParts: StreamPart[] = [{ type: 'text-delta', text: 'it rains' }, { type: 'end' }]
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

test('a recorded conversation is replayed although tools return other results', async () => {
  await record(callParts, textParts)
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(callParts)
  const changed = structuredClone(conversation[1]!)
  changed[2] = { role: 'tool', answers: [{ call, name: 't', text: 'snow', isError: false }] }
  expect(await read(model, changed)).toEqual(textParts)
})

test('several answers to one request are replayed in order, then the last one', async () => {
  await record(callParts)
  await record(textParts)
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(callParts)
  for (let repeat = 0; repeat < 2; repeat++) {
    expect(await read(model, conversation[0]!)).toEqual(textParts)
  }
})

test('a failed recording does not change the answers and errors of its model', async () => {
  const failures: unknown[] = []
  const options = {
    path: join(folder, 'no', 'trace'),
    onFailure: (each: unknown) => void failures.push(each),
  }
  const failure = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  const model = recorded(new FakeModel('a', textParts, [failure]), options)
  expect(await read(model, conversation[0]!)).toEqual(textParts)
  await expect(read(model, conversation[0]!)).rejects.toBe(failure)
  expect(failures).toHaveLength(2)
})

test('a recording is readable only by its owner, and a truncated one is replayed as far as it goes', async () => {
  await record(callParts, textParts)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -20))
  const model = replay()
  expect(await read(model, conversation[0]!)).toEqual(callParts)
  await expect(read(model, conversation[1]!)).rejects.toMatchObject({ code: 'not-found' })
})

test('a failed answer is replayed with its parts and its error', async () => {
  const failure = new BusError('invalid', 'too long', { reason: 'context-overflow' })
  await record([textParts[0]!, failure])
  const parts: StreamPart[] = []
  const reading = async (): Promise<void> => {
    const { signal } = new AbortController()
    const request = { messages: conversation[0]!, tools: [] }
    for await (const part of replay().stream(request, { signal })) parts.push(part)
  }
  await expect(reading()).rejects.toMatchObject(failure.toInfo())
  expect(parts).toEqual([textParts[0]])
})

test('an abandoned answer is not recorded', async () => {
  const model = recorded(new FakeModel('a', textParts), { path, onFailure })
  const { signal } = new AbortController()
  for await (const _ of model.stream({ messages: [], tools: [] }, { signal })) break
  await record(callParts)
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1)
})

test('a request that was not recorded has no answer', async () => {
  await record(callParts)
  await expect(read(replay(), [user('weather today?')])).rejects.toMatchObject({
    code: 'not-found',
  })
})

test('parts are replayed with the recorded delays, or without in fast mode', async () => {
  await record([callParts[0]!, 60, ...textParts])
  const slow = fakeClock()
  await read(replay(false, slow), conversation[0]!)
  const waited = slow.delays.reduce((sum, ms) => sum + ms, 0)
  // Timers may fire slightly early.
  expect(waited).toBeGreaterThan(50)
  const fast = fakeClock()
  await read(replay(true, fast), conversation[0]!)
  expect(fast.delays).toEqual([])
})

test.each([
  ['{"asked":1}\n', 'line 1 is no recorded answer'],
  ['\nnonsense\n', 'line 2 is no recorded answer'],
  [undefined, 'cannot be read'],
])('a trace file that is invalid or missing is refused: %j', (text, message) => {
  if (text !== undefined) writeFileSync(path, text)
  expect(() => replay()).toThrow(message)
})

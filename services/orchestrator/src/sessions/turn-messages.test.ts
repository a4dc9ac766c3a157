import type { HistoryMessage } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { applyEntry, emptySession } from '@mcp-host/session-state'
import { beforeEach, expect, test } from 'vitest'
import { MemoryLog } from './__fixtures__/memory-log.ts'
import { turnMessages } from './turn-messages.ts'

let log: MemoryLog
beforeEach(() => {
  log = new MemoryLog()
})

function fold(): SessionState {
  const state = emptySession()
  for (const entry of log.entries) applyEntry(state, entry)
  return state
}

function messagesOf(seq: number): HistoryMessage[] {
  const { inputs, turns, checkpoints } = fold()
  const input = inputs.get(seq)
  if (input === undefined) throw new Error('no such message')
  const position = { branches: [input.id], checkpoint: checkpoints.get(seq) }
  return turnMessages(input, turns.get(seq), position)
}

test('the messages of a turn are the input, reasoning, tool calls with results and answer, in order', () => {
  const turn = log.addInput('a', { text: 'list them' })
  log.claim(turn)
  const [list] = log.write({ reasoning: 'let me look', tools: ['list'] })
  if (list === undefined) throw new Error('no call')
  log.finish(list, 'list', 'x, y')
  log.generate(turn)
  log.write({ text: 'x and y' })
  log.done(turn)
  const messages = messagesOf(turn)
  const answer = { provider: 'demo', model: 'tiny', usage: { inputTokens: 3, outputTokens: 2 } }
  const twice = { inputTokens: 6, outputTokens: 4 }
  expect(messages).toMatchObject([
    {
      id: 'a',
      role: 'user',
      content: 'list them',
      metadata: {
        messageId: 'a',
        state: 'done',
        outcome: 'completed',
        turnUsage: [{ provider: 'demo', model: 'tiny', generations: 2, ...twice }],
      },
    },
    {
      role: 'assistant',
      kind: 'complete',
      metadata: { messageId: 'a', reasoning: 'let me look', ...answer },
    },
    {
      id: list,
      role: 'tool',
      toolName: 'files.list',
      kind: 'complete',
      data: {
        arguments: { path: '/a' },
        outcome: 'ok',
        content: [{ type: 'text', text: 'x, y' }],
        durationMs: 7,
      },
      metadata: { messageId: 'a' },
    },
    { role: 'assistant', content: 'x and y', metadata: { messageId: 'a', ...answer } },
  ])
  expect(messages[1]).not.toHaveProperty('content')
  expect(messages[0]?.metadata).not.toHaveProperty('branches')
  const times = messages.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(new Set(messages.map(({ id }) => id)).size).toBe(4)
})

test('a message has the state of its turn: queued, running or waiting', () => {
  const turn = log.addInput('a')
  const queued = log.addInput('b')
  log.claim(turn)
  expect(messagesOf(turn)[0]?.metadata.state).toBe('running')
  expect(messagesOf(queued)).toMatchObject([{ metadata: { state: 'queued' } }])
  const waiting = { type: 'turn-waiting', turn, seen: 0, until: 9 } as const
  log.add({ kind: 'turn', fact: { ...waiting, for: 'owner' } })
  expect(messagesOf(turn)[0]?.metadata.state).toBe('running')
  log.add({ kind: 'turn', fact: { ...waiting, for: 'approval' } })
  expect(messagesOf(turn)[0]?.metadata.state).toBe('waiting')
})

test('a call without a result has the kind start', () => {
  const turn = log.addInput('a')
  log.claim(turn)
  log.write({ text: 'I look', tools: ['list'] })
  expect(messagesOf(turn).slice(1)).toMatchObject([
    { role: 'assistant', content: 'I look' },
    { role: 'tool', kind: 'start', data: { arguments: { path: '/a' } } },
  ])
})

test('a call that a supervisor has started has the kind progress', () => {
  const turn = log.addInput('a')
  log.claim(turn)
  const [call] = log.write({ tools: ['list'] })
  const start = { type: 'tool-started' as const, attempt: 1, supervisor: 's', nonce: 'n' }
  log.add({ kind: 'tool', fact: { ...start, call: call! } })
  expect(messagesOf(turn)[1]).toMatchObject({ role: 'tool', kind: 'progress' })
})

test.each([
  ['refused', 'refused'],
  ['unknown', 'unknown'],
  ['cancelled', 'cancelled'],
  ['answered', 'ok'],
] as const)(
  'a call that the host settled as %s has the outcome %s and its message',
  (settlement, outcome) => {
    const turn = log.addInput('a')
    log.claim(turn)
    const [call] = log.write({ tools: ['list'] })
    if (call === undefined) throw new Error('no call')
    const settled = {
      type: 'tool-settled',
      turn,
      seen: 0,
      call,
      tool: 'list',
      outcome: settlement,
    } as const
    log.add({ kind: 'turn', fact: { ...settled, message: 'the reason' } })
    expect(messagesOf(turn)[1]).toMatchObject({
      kind: 'complete',
      data: { outcome, content: [{ type: 'text', text: 'the reason' }] },
    })
  },
)

test('the text of a void generation is left out', () => {
  const turn = log.addInput('a')
  log.claim(turn)
  log.write({ text: 'half an ans' })
  const voids = fold().turns.get(turn)?.generations[0]?.id
  if (voids === undefined) throw new Error('no generation')
  const generation = `${voids}0` as typeof voids
  log.add({
    kind: 'turn',
    fact: { type: 'generation-started', turn, seen: 0, generation, voids, reason: 'busy' },
  })
  log.write({ text: 'an answer' })
  expect(messagesOf(turn).slice(1)).toMatchObject([{ id: generation, content: 'an answer' }])
})

test('a turn that ended without an answer has a message about its end', () => {
  const failed = log.addInput('a')
  log.claim(failed)
  log.done(failed, 'completed', 'Sorry, try again later.')
  const cancelled = log.addInput('b')
  log.claim(cancelled)
  log.done(cancelled, 'cancelled')
  expect(messagesOf(failed)[1]).toMatchObject({
    role: 'system',
    content: 'Sorry, try again later.',
    metadata: { messageId: 'a' },
  })
  expect(messagesOf(cancelled)).toMatchObject([
    { metadata: { outcome: 'cancelled' } },
    { role: 'system', content: 'This turn was cancelled.' },
  ])
})

test('a note follows the last summarised turn', () => {
  const first = log.turn('a')
  const second = log.addInput('b')
  log.claim(second)
  log.compact(second, first)
  expect(messagesOf(first).at(-1)).toMatchObject({
    role: 'system',
    content: expect.stringContaining('summarised'),
  })
  expect(messagesOf(second)).toHaveLength(1)
})

test.each(['accept', 'decline', 'cancel'] as const)(
  'a call has the user who answered whether it may run, and the answer %s',
  (action) => {
    const turn = log.addInput('a')
    log.claim(turn)
    const [call] = log.write({ tools: ['remove'] })
    const asked = { server: 'files', tool: 'remove', id: 'q', message: 'May it?', arguments: {} }
    const fact = { type: 'approval-required', turn, seen: 0, call: call!, ...asked } as const
    log.add({ kind: 'turn', fact: { ...fact, expiresAt: 1e9 } })
    expect(messagesOf(turn)[1]?.data).not.toHaveProperty('approval')
    log.add({ kind: 'control', fact: { type: 'input-answered', id: 'q', action } })
    expect(messagesOf(turn)[1]).toMatchObject({ data: { approval: { how: action, by: 'ann' } } })
  },
)

test('a call that nobody allowed in time says that the question expired', () => {
  const turn = log.addInput('a')
  log.claim(turn)
  const [call] = log.write({ tools: ['remove'] })
  const about = { turn, seen: 0, call: call!, tool: 'remove' } as const
  const asked = { type: 'approval-required', ...about, server: 'files', id: 'q' } as const
  log.add({ kind: 'turn', fact: { ...asked, message: 'May it?', arguments: {}, expiresAt: 0 } })
  const settled = {
    type: 'tool-settled',
    ...about,
    outcome: 'refused',
    message: 'too late',
  } as const
  log.add({ kind: 'turn', fact: settled })
  expect(messagesOf(turn)[1]).toMatchObject({ data: { approval: { how: 'expired' } } })
})

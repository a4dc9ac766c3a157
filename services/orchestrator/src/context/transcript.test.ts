import type {
  ContentBlock,
  LogEntry,
  LogFact,
  SessionId,
  ToolCallBlock,
  ToolFinished,
} from '@mcp-host/contracts'
import {
  applyEntry,
  emptySession,
  generationId,
  newEnvelope,
  toolCallId,
} from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { resultText, transcript } from './transcript.ts'

const session = 'sessionsessionsession' as SessionId
const envelope = newEnvelope('local')

/** The state after facts that are stored one after another, from sequence 1. */
function fold(...facts: LogFact[]): ReturnType<typeof emptySession> {
  const state = emptySession()
  for (const [index, fact] of facts.entries()) {
    const entry: LogEntry = { ...fact, session, seq: index + 1, time: 0, envelope }
    applyEntry(state, entry)
  }
  return state
}

const base = { seen: 0 }
/** Generations are told apart by any number. */
const gen = (name: number): ReturnType<typeof generationId> => generationId(session, name)

const input = (id: string, text: string): LogFact => ({ kind: 'input', fact: { id, text } })
const claim = (turn: number, generation: number): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'turn-claimed',
    turn,
    messageId: '',
    orchestrator: 'o',
    epoch: 1,
    generation: gen(generation),
  },
})
const next = (turn: number, generation: number, voids?: number): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'generation-started',
    turn,
    generation: gen(generation),
    ...(voids === undefined ? {} : { voids: gen(voids) }),
  },
})
const done = (turn: number): LogFact => ({
  kind: 'turn',
  fact: { ...base, type: 'turn-done', turn, outcome: 'completed' },
})
const result = (
  generation: number,
  content: ContentBlock[],
  outcome: 'completed' | 'failed' = 'completed',
): LogFact => ({
  kind: 'generation',
  fact: { generation: gen(generation), outcome, content, provider: 'demo', model: 'm' },
})
const finished = (
  block: ToolCallBlock,
  content: ToolFinished['content'],
  more: Partial<ToolFinished> = {},
): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'tool-finished',
    call: block.id,
    server: 'test',
    tool: 'echo',
    outcome: 'ok',
    content,
    durationMs: 1,
    ...more,
  },
})
const settled = (turn: number, block: ToolCallBlock, outcome: 'refused' | 'unknown'): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'tool-settled',
    turn,
    call: block.id,
    tool: 'test.echo',
    outcome,
    message: `it is ${outcome}`,
  },
})

const text = (content: string): ContentBlock => ({ type: 'text', text: content })
const reasoning = (content: string): ContentBlock => ({ type: 'reasoning', text: content })
const call = (generation: number, index = 0): ToolCallBlock => ({
  type: 'tool-call',
  id: toolCallId(gen(generation), index),
  name: `test__echo${index}`,
  server: 'test',
  tool: 'echo',
  arguments: {},
})

test('the turns that were begun are told in order, then the message to be answered', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [text('first')]),
    done(1),
    input('b', 'two'),
  )
  expect(transcript(state, 5)).toEqual([
    { role: 'user', text: 'one' },
    { role: 'assistant', content: [text('first')] },
    { role: 'user', text: 'two' },
  ])
})

test('messages that wait for their turn are not told', () => {
  const state = fold(input('a', 'one'), input('b', 'two'), input('c', 'three'), claim(1, 0))
  expect(transcript(state, 1)).toEqual([{ role: 'user', text: 'one' }])
})

test('the answers stand behind their own messages, whenever these were sent', () => {
  const state = fold(
    input('a', 'one'),
    input('b', 'two'),
    claim(1, 0),
    result(0, [text('to one')]),
    done(1),
    claim(2, 3),
  )
  expect(transcript(state, 2).map((message) => message.role)).toEqual(['user', 'assistant', 'user'])
  expect(transcript(state, 2).at(-1)).toEqual({ role: 'user', text: 'two' })
})

test('a message that was stored twice is told once', () => {
  const state = fold(input('a', 'one'), claim(1, 0), result(0, []), done(1), input('a', 'one'))
  expect(transcript(state, 5)).toEqual([{ role: 'user', text: 'one' }])
})

test('each reply is followed by the answers of its calls, in the order of the calls', () => {
  const [one, two] = [call(0), call(0, 1)]
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [reasoning('hm'), one, two]),
    finished(two, [text('second')]),
    finished(one, [text('first')]),
    next(1, 3),
    result(3, [text('so')]),
  )
  expect(transcript(state, 1)).toEqual([
    { role: 'user', text: 'one' },
    { role: 'assistant', content: [reasoning('hm'), one, two] },
    {
      role: 'tool',
      answers: [
        { call: one.id, name: 'test__echo0', text: 'first', isError: false },
        { call: two.id, name: 'test__echo1', text: 'second', isError: false },
      ],
    },
    { role: 'assistant', content: [text('so')] },
  ])
})

test('what a generation wrote that was given up is not told, and neither are its calls', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    next(1, 2, 0),
    result(0, [text('late'), call(0)]),
    result(2, [text('anew')]),
  )
  expect(transcript(state, 1).slice(1)).toEqual([{ role: 'assistant', content: [text('anew')] }])
})

test('nor when its result came just before', () => {
  const facts = [input('a', 'one'), claim(1, 0), result(0, [text('too late')]), next(1, 2, 0)]
  expect(transcript(fold(...facts), 1)).toEqual([{ role: 'user', text: 'one' }])
})

test('of a reply that failed only the text is told', () => {
  const content = [reasoning('hm'), text('half a'), call(0)]
  const state = fold(input('a', 'one'), claim(1, 0), result(0, content, 'failed'))
  expect(transcript(state, 1).slice(1)).toEqual([{ role: 'assistant', content: [text('half a')] }])
})

test('a reply that failed before its first text is not told', () => {
  const state = fold(input('a', 'one'), claim(1, 0), result(0, [reasoning('hm')], 'failed'))
  expect(transcript(state, 1)).toEqual([{ role: 'user', text: 'one' }])
})

test.each(['refused', 'unknown'] as const)('a call that was %s is answered by why', (outcome) => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [call(0)]),
    settled(1, call(0), outcome),
  )
  expect(transcript(state, 1).at(-1)).toMatchObject({
    answers: [{ text: `it is ${outcome}`, isError: true }],
  })
})

test('what comes after a call was closed does not change what the model was told', () => {
  const facts = [
    input('a', 'one'),
    claim(1, 0),
    result(0, [call(0)]),
    settled(1, call(0), 'unknown'),
  ]
  const before = transcript(fold(...facts), 1)
  expect(transcript(fold(...facts, finished(call(0), [text('late')])), 1)).toEqual(before)
})

test("a tool's own error and a failure of the host are answers that are errors", () => {
  const facts = [input('a', 'one'), claim(1, 0), result(0, [call(0), call(0, 1)])]
  const error = { code: 'deadline' as const, message: 'it took too long' }
  const state = fold(
    ...facts,
    finished(call(0), [text('out of paper')], { outcome: 'error' }),
    finished(call(0, 1), [], { outcome: 'error', error }),
  )
  expect(transcript(state, 1).at(-1)).toMatchObject({
    answers: [
      { text: 'out of paper', isError: true },
      { text: 'it took too long', isError: true },
    ],
  })
})

test('every call of a reply has an answer, as providers demand, also one that was cut off', () => {
  const state = fold(input('a', 'one'), claim(1, 0), result(0, [call(0)]))
  expect(transcript(state, 1).at(-1)).toMatchObject({
    answers: [{ text: 'no answer', isError: true }],
  })
})

const answer: ToolFinished = {
  type: 'tool-finished',
  call: call(0).id,
  server: 'test',
  tool: 'echo',
  outcome: 'ok',
  content: [],
  durationMs: 1,
}
test.each<[string, Partial<ToolFinished>, string]>([
  ['texts, line by line', { content: [text('a'), text('b')] }, 'a\nb'],
  ['nothing', {}, ''],
  ['structured content alone, as JSON', { structuredContent: { a: [1] } }, '{"a":[1]}'],
  [
    'the text alone, where there is structured content beside it',
    { content: [text('one')], structuredContent: { a: 1 } },
    'one',
  ],
  [
    'an image, by its kind and not its data',
    { content: [text('see'), { type: 'image', mimeType: 'image/png', data: 'iVBOR' }] },
    'see\n[image image/png]',
  ],
  [
    'an embedded text',
    { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'inside' } }] },
    'inside',
  ],
  [
    'an embedded file, by its address',
    { content: [{ type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA' } }] },
    '[resource file:///a.bin]',
  ],
  [
    'a link, by its address',
    { content: [{ type: 'resource_link', name: 'a', uri: 'file:///a' }] },
    '[resource_link file:///a]',
  ],
  [
    'an excerpt as a whole, with the line that says how much there is',
    {
      content: [text('x'.repeat(65_536)), text('… (the first 65536 of 700000 characters)')],
      blob: { key: 'k', bytes: 700_000, digest: 'd' },
    },
    `${'x'.repeat(65_536)}\n… (the first 65536 of 700000 characters)`,
  ],
  ['a block of a kind nobody knows', { content: [{ type: 'hologram' }] }, '[hologram]'],
])('a model reads of a result: %s', (_, more, expected) => {
  expect(resultText({ ...answer, ...more })).toBe(expected)
})

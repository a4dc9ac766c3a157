import type {
  ApprovalRequired,
  ContentBlock,
  GenerationId,
  InputAnswered,
  InputRequired,
  LogEntry,
  TurnEvent,
} from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { callBlock, Story, textBlock } from './__fixtures__/story.ts'
import { logEvents, questionEvents } from './log-events.ts'

let story: Story
let input: LogEntry
let generation: GenerationId
beforeEach(() => {
  story = new Story()
  input = story.input('hello', 'm1')
  generation = story.claim(input)
})

function lastEvents(): ReturnType<typeof logEvents> {
  const last = story.entries.at(-1)
  return last === undefined ? [] : logEvents(last)
}

test('a message becomes a user event', () => {
  expect(logEvents(input)).toEqual([{ type: 'user', payload: { messageId: 'm1', text: 'hello' } }])
})

test('a user event says which message it replaces or follows', () => {
  const place = { replaces: 'm0', follows: 'm1' }
  const fact = { id: 'm2', text: 'hi', ...place }
  const payload = { messageId: 'm2', text: 'hi', ...place }
  expect(logEvents(story.entry({ kind: 'input', fact }))).toEqual([{ type: 'user', payload }])
})

test('the start of a turn becomes a turn event and a status', () => {
  expect(lastEvents()).toEqual([
    { type: 'turn', payload: { state: 'started', messageId: 'm1' } },
    { type: 'status', payload: { state: 'processing', message: 'Thinking' } },
  ])
})

test('unavailable servers are named at the start of a turn, not at a take-over', () => {
  const events = logEvents(story.entry({ kind: 'turn', fact: claimed({ epoch: 1 }) }))
  expect(events.map(({ payload }) => payload)).toMatchObject([
    { state: 'started' },
    { state: 'processing', message: 'Not available right now: files, web' },
    { state: 'processing', message: 'Thinking' },
  ])
  expect(logEvents(story.entry({ kind: 'turn', fact: claimed({ epoch: 2 }) }))).toEqual([])
})

function claimed({ epoch }: { epoch: number }): TurnEvent {
  const about = { turn: input.seq, seen: input.seq, messageId: 'm1', orchestrator: 'o' }
  return { type: 'turn-claimed', ...about, epoch, missing: ['files', 'web'] }
}

test('a take-over, a further generation and the start of a call have no events', () => {
  expect(logEvents(story.takeOver())).toEqual([])
  story.generation()
  expect(lastEvents()).toEqual([])
  expect(logEvents(story.toolStarted(callBlock(generation).id))).toEqual([])
})

test('a generation that voids another becomes a reset and a status for clients of the base shapes', () => {
  story.generation(generation)
  const message = 'The answer was interrupted and is written anew'
  expect(lastEvents()).toEqual([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
  ])
})

test('a turn that ends before its generation begins with a reset', () => {
  story.done('cancelled', undefined, generation)
  const message = 'The unfinished answer was lost'
  expect(lastEvents()).toMatchObject([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
    { type: 'status', payload: { state: 'complete', message: 'Stopped' } },
    { type: 'turn', payload: { state: 'done', outcome: 'cancelled' } },
  ])
})

test('the reset of a retried generation has the reason', () => {
  story.generation(generation, 'it is overloaded')
  const message = 'The model did not answer (it is overloaded); trying again'
  expect(lastEvents()).toEqual([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
  ])
})

test('notices of a reply come before its tool calls', () => {
  const entry = story.result(generation, [callBlock(generation)])
  if (entry.kind !== 'generation') throw new Error('no result')
  const notices = ['gemini cannot be reached; openai answers instead']
  const [first, second] = logEvents({ ...entry, fact: { ...entry.fact, notices } })
  expect(first?.payload).toEqual({ state: 'processing', message: notices[0] })
  expect(second?.payload).toMatchObject({ tool: 'test.echo' })
})

test('a tool call becomes a status and an event with server and tool', () => {
  story.result(generation, [textBlock('text has no event here'), callBlock(generation)])
  expect(lastEvents()).toEqual([
    {
      type: 'status',
      payload: { state: 'processing', tool: 'test.echo', message: 'Using test.echo' },
    },
    {
      type: 'tool',
      payload: {
        state: 'call',
        callId: `${generation}-0`,
        server: 'test',
        tool: 'echo',
        arguments: { text: 'hi' },
      },
    },
  ])
})

test('a call of an unknown tool has the name that the model wrote and no server', () => {
  const { type, id, name } = callBlock(generation)
  const unknown: ContentBlock = { type, id, name, arguments: 'broken' }
  story.result(generation, [unknown])
  expect(lastEvents()).toMatchObject([
    { payload: { tool: 'test__echo' } },
    { payload: { tool: 'test__echo', arguments: 'broken' } },
  ])
  expect(lastEvents()[1]?.payload).not.toHaveProperty('server')
})

test.each(['failed', 'cancelled'] as const)('tool calls of a %s reply have no events', (end) => {
  story.result(generation, [callBlock(generation)], end)
  expect(lastEvents()).toEqual([])
})

test('a tool result becomes a status in the base shape and an event with details', () => {
  story.toolFinished(callBlock(generation).id, 'sunny', { structuredContent: { degrees: 20 } })
  const content = [{ type: 'text', text: 'sunny' }]
  expect(lastEvents()).toEqual([
    {
      type: 'status',
      payload: {
        state: 'complete',
        tool: 'test.echo',
        message: 'test.echo is done',
        data: { content, structuredContent: { degrees: 20 }, isError: false },
      },
    },
    {
      type: 'tool',
      payload: {
        state: 'result',
        callId: `${generation}-0`,
        server: 'test',
        tool: 'echo',
        outcome: 'ok',
        content,
        structuredContent: { degrees: 20 },
        durationMs: 3,
      },
    },
  ])
})

test('the excerpt of a result has the reference to the stored result', () => {
  const blob = { key: 'k', bytes: 1_000_000, digest: 'SHA-256=x' }
  story.toolFinished(callBlock(generation).id, 'the beginning', { blob })
  expect(lastEvents()[1]?.payload).toMatchObject({ content: [{ text: 'the beginning' }], blob })
})

describe('elicitations', () => {
  const about = {
    id: 'q1',
    kind: 'elicitation',
    callId: expect.stringMatching(/-0$/),
    server: 'test',
    tool: 'echo',
    message: 'Who are you?',
  }
  const ask = (more: Partial<InputRequired> = {}): ReturnType<typeof logEvents> =>
    logEvents(story.ask(callBlock(generation).id, 'q1', more))
  const requiredInput = (): InputRequired => {
    const { kind, fact } = story.ask(callBlock(generation).id, 'q1')
    if (kind !== 'tool' || fact.type !== 'input-required') throw new Error('no input is required')
    return fact
  }

  test('an elicitation becomes an event with its form and a status for clients of the base shapes', () => {
    expect(ask()).toEqual([
      {
        type: 'status',
        payload: {
          state: 'processing',
          tool: 'test.echo',
          message: 'test.echo waits for your answer: Who are you?',
        },
      },
      {
        type: 'input',
        payload: {
          state: 'required',
          ...about,
          mode: 'form',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
          expiresAt: 1_000,
        },
      },
    ])
  })

  test('an elicitation by URL has the URL', () => {
    const { requestedSchema: _, ...fact } = { ...requiredInput(), mode: 'url' as const }
    const url = 'https://example.com/'
    const [, event] = logEvents(story.entry({ kind: 'tool', fact: { ...fact, url } }))
    expect(event?.payload).toMatchObject({ mode: 'url', url: 'https://example.com/' })
    expect(event?.payload).not.toHaveProperty('requestedSchema')
  })

  test('an answered elicitation has the action and the user, not the content', () => {
    const content = { name: 'Ann' }
    const answer: InputAnswered = { type: 'input-answered', id: 'q1', action: 'accept', content }
    expect(
      questionEvents(requiredInput(), { state: 'answered', answer, by: 'local', seq: 1 }),
    ).toEqual([
      {
        type: 'status',
        payload: {
          state: 'processing',
          tool: 'test.echo',
          message: 'test.echo goes on: its question was answered',
        },
      },
      { type: 'input', payload: { state: 'answered', ...about, action: 'accept', by: 'local' } },
    ])
  })

  test('an expired or void elicitation becomes an event', () => {
    const [status, event] = questionEvents(requiredInput(), { state: 'expired' })
    expect(status?.payload).toMatchObject({
      message: expect.stringContaining('not answered in time'),
    })
    expect(event).toEqual({ type: 'input', payload: { state: 'expired', ...about } })
    expect(questionEvents(requiredInput(), { state: 'void' })).toEqual([
      { type: 'input', payload: { state: 'void', ...about } },
    ])
  })
})

describe('approvals', () => {
  const about = {
    id: 'a1',
    kind: 'approval',
    callId: expect.stringMatching(/-0$/),
    server: 'test',
    tool: 'echo',
    message: 'May test.echo be called?',
  }
  const requiredInput = (): ApprovalRequired => {
    const { kind, fact } = story.askApproval(callBlock(generation).id, 'a1')
    if (kind !== 'turn' || fact.type !== 'approval-required')
      throw new Error('no input is required')
    return fact
  }

  test('a required approval becomes an event with the arguments of the call', () => {
    requiredInput()
    const status = { tool: 'test.echo', message: 'test.echo waits for your permission' }
    expect(lastEvents()).toEqual([
      { type: 'status', payload: { state: 'processing', ...status } },
      {
        type: 'input',
        payload: {
          state: 'required',
          ...about,
          mode: 'approval',
          arguments: { text: 'hi' },
          expiresAt: 1_000,
        },
      },
    ])
  })

  test.each([
    ['accept', 'test.echo was allowed'],
    ['decline', 'test.echo was refused'],
    ['cancel', 'test.echo was refused'],
  ] as const)('an approval that is answered with %s has the message "%s"', (action, message) => {
    const answer: InputAnswered = { type: 'input-answered', id: 'a1', action }
    expect(
      questionEvents(requiredInput(), { state: 'answered', answer, by: 'local', seq: 1 }),
    ).toEqual([
      { type: 'status', payload: { state: 'processing', tool: 'test.echo', message } },
      { type: 'input', payload: { state: 'answered', ...about, action, by: 'local' } },
    ])
  })

  test('an expired approval becomes an event', () => {
    expect(questionEvents(requiredInput(), { state: 'expired' })).toMatchObject([
      { type: 'status', payload: { message: 'test.echo was not allowed in time' } },
      { type: 'input', payload: { state: 'expired', kind: 'approval' } },
    ])
  })
})

test('a turn that waits for its user has an event, one that waits for an orchestrator has none', () => {
  expect(logEvents(story.wait('approval'))).toEqual([
    { type: 'turn', payload: { state: 'waiting', until: 2_000 } },
  ])
  expect(logEvents(story.wait('owner'))).toEqual([])
})

test.each([
  ['cleared', /tool results are left out/],
  ['summarised', /is summarised/],
  ['dropped', /beginning is left out/],
] as const)('a conversation that was %s has a message and token counts', (how, words) => {
  const message = expect.stringMatching(words)
  expect(logEvents(story.compact(how))).toEqual([
    { type: 'status', payload: { state: 'processing', message } },
    { type: 'context', payload: { how, message, tokensBefore: 100, tokensAfter: 10 } },
  ])
})

test('the deletion of a session becomes an event', () => {
  const deleted = { type: 'session', payload: { state: 'deleted' } }
  expect(logEvents(story.delete())).toEqual([deleted])
})

test('a cancel and an unreadable entry have no events', () => {
  expect(logEvents(story.cancel('m1'))).toEqual([])
  expect(logEvents(story.unreadable('turn'))).toEqual([])
})

const tooLate = { code: 'deadline' as const, message: 'it took too long' }
test.each([
  ["a tool's own error with its first text", { outcome: 'error' as const }, 'out of paper'],
  ["a tool's own error without a text", { outcome: 'error' as const, content: [] }, 'it failed'],
  [
    'an error of the host with its reason',
    { outcome: 'error' as const, error: tooLate },
    tooLate.message,
  ],
])('%s becomes the standard message of tool errors', (_, more, reason) => {
  story.toolFinished(callBlock(generation).id, 'out of paper', more)
  const [status, tool] = lastEvents()
  expect(status?.payload).toMatchObject({
    message: `Tool error: test.echo: ${reason}. The answer goes on without its result.`,
    data: { isError: true },
  })
  expect(tool?.payload).toMatchObject(more)
})

test('a reason that ends a sentence gets no further full stop', () => {
  story.toolFinished(callBlock(generation).id, 'No paper! Fill it.', { outcome: 'error' })
  expect(lastEvents()[0]?.payload).toMatchObject({
    message: 'Tool error: test.echo: No paper! Fill it. The answer goes on without its result.',
  })
})

test('a cancelled call is not a tool error', () => {
  const error = { code: 'cancelled' as const, message: 'the call was cancelled' }
  story.toolFinished(callBlock(generation).id, '', { outcome: 'error', content: [], error })
  const [status, tool] = lastEvents()
  expect(status?.payload).toMatchObject({ message: 'test.echo was stopped' })
  expect(tool?.payload).toMatchObject({ state: 'result', outcome: 'cancelled' })
})

test('a long reason is cut in the message, not in the data', () => {
  const text = 'x'.repeat(2_000)
  story.toolFinished(callBlock(generation).id, text, { outcome: 'error' })
  const payload = lastEvents()[0]?.payload
  expect(payload).toMatchObject({
    message: `Tool error: test.echo: ${'x'.repeat(500)}. The answer goes on without its result.`,
  })
  expect(payload).toMatchObject({ data: { content: [{ text }] } })
})

test.each(['refused', 'unknown'] as const)('a call that was %s becomes a tool error', (outcome) => {
  const content = [{ type: 'text', text: `it is ${outcome}` }]
  expect(logEvents(story.settle(callBlock(generation).id, outcome))).toEqual([
    {
      type: 'status',
      payload: {
        state: 'complete',
        tool: 'test.echo',
        message: `Tool error: test.echo: it is ${outcome}. The answer goes on without its result.`,
        data: { content, isError: true },
      },
    },
    {
      type: 'tool',
      payload: {
        state: 'result',
        callId: `${generation}-0`,
        tool: 'test.echo',
        outcome,
        content,
      },
    },
  ])
})

test.each([
  ['cancelled', 'test.echo was stopped', true, 'cancelled'],
  ['answered', 'test.echo is done', false, 'ok'],
] as const)('a call that was %s is not a tool error', (end, message, isError, outcome) => {
  const content = [{ type: 'text', text: `it is ${end}` }]
  expect(logEvents(story.settle(callBlock(generation).id, end))).toMatchObject([
    { payload: { state: 'complete', message, data: { content, isError } } },
    { payload: { state: 'result', outcome, content } },
  ])
})

test('the end of a turn has its outcome', () => {
  expect(logEvents(story.done())).toEqual([
    { type: 'status', payload: { state: 'complete', message: 'Done' } },
    { type: 'turn', payload: { state: 'done', messageId: 'm1', outcome: 'completed' } },
  ])
})

test('the end of a failed turn has the error', () => {
  const error = { code: 'denied' as const, message: 'the key is wrong' }
  expect(logEvents(story.turn({ type: 'turn-done', outcome: 'failed', error }))).toEqual([
    { type: 'status', payload: { state: 'complete', message: error.message } },
    { type: 'turn', payload: { state: 'done', outcome: 'failed', error } },
  ])
})

test('the message of a turn without an answer is text before the end', () => {
  expect(logEvents(story.done('limit', 'I had to stop.'))).toEqual([
    { type: 'text', payload: { content: 'I had to stop.' } },
    { type: 'status', payload: { state: 'complete', message: 'Done' } },
    { type: 'turn', payload: { state: 'done', messageId: 'm1', outcome: 'limit' } },
  ])
})

test('the end of a cancelled turn has its usage', () => {
  const usage = [{ provider: 'demo', model: 'demo-1', generations: 1, outputTokens: 3 }]
  const done = story.turn({ type: 'turn-done', outcome: 'cancelled', usage })
  expect(logEvents(done)).toEqual([
    { type: 'status', payload: { state: 'complete', message: 'Stopped' } },
    { type: 'turn', payload: { state: 'done', outcome: 'cancelled', usage } },
  ])
})

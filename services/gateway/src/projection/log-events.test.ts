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

test('a user message is shown to every socket', () => {
  expect(logEvents(input)).toEqual([{ type: 'user', payload: { messageId: 'm1', text: 'hello' } }])
})

test('a turn begins with its message and a status', () => {
  expect(lastEvents()).toEqual([
    { type: 'turn', payload: { state: 'started', messageId: 'm1' } },
    { type: 'status', payload: { state: 'processing', message: 'Thinking' } },
  ])
})

test('what cannot be used is told when a turn begins, and only then', () => {
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

test('a take-over, a further generation and the start of a tool are not told', () => {
  expect(logEvents(story.takeOver())).toEqual([])
  story.generation()
  expect(lastEvents()).toEqual([])
  expect(logEvents(story.toolStarted(callBlock(generation).id))).toEqual([])
})

test('a generation that replaces another resets the text, also for clients of the base shapes', () => {
  story.generation(generation)
  const message = 'The answer was interrupted and is written anew'
  expect(lastEvents()).toEqual([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
  ])
})

test('a turn that ends before its generation resets the text first', () => {
  story.done('cancelled', undefined, generation)
  const message = 'The unfinished answer was lost'
  expect(lastEvents()).toMatchObject([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
    { type: 'status', payload: { state: 'complete', message: 'Stopped' } },
    { type: 'turn', payload: { state: 'done', outcome: 'cancelled' } },
  ])
})

test('a generation that is tried again says why', () => {
  story.generation(generation, 'it is overloaded')
  const message = 'The model did not answer (it is overloaded); trying again'
  expect(lastEvents()).toEqual([
    { type: 'reset', payload: { message } },
    { type: 'status', payload: { state: 'processing', message } },
  ])
})

test('what is to be known about an answer is told before its tool calls', () => {
  const entry = story.result(generation, [callBlock(generation)])
  if (entry.kind !== 'generation') throw new Error('no result')
  const notices = ['gemini cannot be reached; openai answers instead']
  const [first, second] = logEvents({ ...entry, fact: { ...entry.fact, notices } })
  expect(first?.payload).toEqual({ state: 'processing', message: notices[0] })
  expect(second?.payload).toMatchObject({ tool: 'test.echo' })
})

test('a tool call is told with server and tool', () => {
  story.result(generation, [textBlock('text is not of this place'), callBlock(generation)])
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

test('a call of a tool that does not exist has the name the model wrote, and no server', () => {
  const { type, id, name } = callBlock(generation)
  const unknown: ContentBlock = { type, id, name, arguments: 'broken' }
  story.result(generation, [unknown])
  expect(lastEvents()).toMatchObject([
    { payload: { tool: 'test__echo' } },
    { payload: { tool: 'test__echo', arguments: 'broken' } },
  ])
  expect(lastEvents()[1]?.payload).not.toHaveProperty('server')
})

test.each(['failed', 'cancelled'] as const)('tool calls of a reply that %s are not told', (end) => {
  story.result(generation, [callBlock(generation)], end)
  expect(lastEvents()).toEqual([])
})

test('a tool result is told in the base shape and in detail', () => {
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

test('an excerpt of a result says where the whole is', () => {
  const blob = { key: 'k', bytes: 1_000_000, digest: 'SHA-256=x' }
  story.toolFinished(callBlock(generation).id, 'the beginning', { blob })
  expect(lastEvents()[1]?.payload).toMatchObject({ content: [{ text: 'the beginning' }], blob })
})

describe('a question of a tool', () => {
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
  const asked = (): InputRequired => {
    const { kind, fact } = story.ask(callBlock(generation).id, 'q1')
    if (kind !== 'tool' || fact.type !== 'input-required') throw new Error('asks nothing')
    return fact
  }

  test('is told with its form, and in a status for clients of the base shapes', () => {
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

  test('that wants a page to be visited has its URL', () => {
    const { requestedSchema: _, ...fact } = { ...asked(), mode: 'url' as const }
    const url = 'https://example.com/'
    const [, event] = logEvents(story.entry({ kind: 'tool', fact: { ...fact, url } }))
    expect(event?.payload).toMatchObject({ mode: 'url', url: 'https://example.com/' })
    expect(event?.payload).not.toHaveProperty('requestedSchema')
  })

  test('that was answered is told with what was chosen and by whom, not with the answer', () => {
    const content = { name: 'Ann' }
    const answer: InputAnswered = { type: 'input-answered', id: 'q1', action: 'accept', content }
    expect(questionEvents(asked(), { state: 'answered', answer, by: 'local', seq: 1 })).toEqual([
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

  test('that expired or became void is told', () => {
    const [status, event] = questionEvents(asked(), { state: 'expired' })
    expect(status?.payload).toMatchObject({
      message: expect.stringContaining('not answered in time'),
    })
    expect(event).toEqual({ type: 'input', payload: { state: 'expired', ...about } })
    expect(questionEvents(asked(), { state: 'void' })).toEqual([
      { type: 'input', payload: { state: 'void', ...about } },
    ])
  })
})

describe('a call that needs permission', () => {
  const about = {
    id: 'a1',
    kind: 'approval',
    callId: expect.stringMatching(/-0$/),
    server: 'test',
    tool: 'echo',
    message: 'May test.echo be called?',
  }
  const asked = (): ApprovalRequired => {
    const { kind, fact } = story.askApproval(callBlock(generation).id, 'a1')
    if (kind !== 'turn' || fact.type !== 'approval-required') throw new Error('asks nothing')
    return fact
  }

  test('is told with its arguments', () => {
    asked()
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
  ] as const)('%s: %s', (action, message) => {
    const answer: InputAnswered = { type: 'input-answered', id: 'a1', action }
    expect(questionEvents(asked(), { state: 'answered', answer, by: 'local', seq: 1 })).toEqual([
      { type: 'status', payload: { state: 'processing', tool: 'test.echo', message } },
      { type: 'input', payload: { state: 'answered', ...about, action, by: 'local' } },
    ])
  })

  test('that nobody gave in time is told', () => {
    expect(questionEvents(asked(), { state: 'expired' })).toMatchObject([
      { type: 'status', payload: { message: 'test.echo was not allowed in time' } },
      { type: 'input', payload: { state: 'expired', kind: 'approval' } },
    ])
  })
})

test('a turn that waits for its user is told, one that waits for an orchestrator is not', () => {
  expect(logEvents(story.wait('approval'))).toEqual([
    { type: 'turn', payload: { state: 'waiting', until: 2_000 } },
  ])
  expect(logEvents(story.wait('owner'))).toEqual([])
})

test.each([
  ['cleared', /tool results are left out/],
  ['summarised', /is summarised/],
  ['dropped', /beginning is left out/],
] as const)('a conversation that was %s is told in words and in figures', (how, said) => {
  const message = expect.stringMatching(said)
  expect(logEvents(story.compact(how))).toEqual([
    { type: 'status', payload: { state: 'processing', message } },
    { type: 'context', payload: { how, message, tokensBefore: 100, tokensAfter: 10 } },
  ])
})

test('the end of a session is told', () => {
  const deleted = { type: 'session', payload: { state: 'deleted' } }
  expect(logEvents(story.delete())).toEqual([deleted])
})

test('a cancel, and what cannot be read, are not told', () => {
  expect(logEvents(story.cancel('m1'))).toEqual([])
  expect(logEvents(story.unreadable('turn'))).toEqual([])
})

const tooLate = { code: 'deadline' as const, message: 'it took too long' }
test.each([
  ['of its own with the first text it sent', { outcome: 'error' as const }, 'out of paper'],
  ['without a text', { outcome: 'error' as const, content: [] }, 'it failed'],
  ['of the host with its reason', { outcome: 'error' as const, error: tooLate }, tooLate.message],
])('a tool error %s is the standard message', (_, more, reason) => {
  story.toolFinished(callBlock(generation).id, 'out of paper', more)
  const [status, tool] = lastEvents()
  expect(status?.payload).toMatchObject({
    message: `Tool error: test.echo: ${reason}`,
    data: { isError: true },
  })
  expect(tool?.payload).toMatchObject(more)
})

test('a tool that was stopped is cancelled and no tool error', () => {
  const error = { code: 'cancelled' as const, message: 'the call was cancelled' }
  story.toolFinished(callBlock(generation).id, '', { outcome: 'error', content: [], error })
  const [status, tool] = lastEvents()
  expect(status?.payload).toMatchObject({ message: 'test.echo was stopped' })
  expect(tool?.payload).toMatchObject({ state: 'result', outcome: 'cancelled' })
})

test('a very long reason is cut in the message, not in the data', () => {
  const text = 'x'.repeat(2_000)
  story.toolFinished(callBlock(generation).id, text, { outcome: 'error' })
  const payload = lastEvents()[0]?.payload
  expect(payload).toMatchObject({ message: `Tool error: test.echo: ${'x'.repeat(500)}` })
  expect(payload).toMatchObject({ data: { content: [{ text }] } })
})

test.each(['refused', 'unknown'] as const)(
  'a call that was %s looks like a tool error',
  (outcome) => {
    const content = [{ type: 'text', text: `it is ${outcome}` }]
    expect(logEvents(story.settle(callBlock(generation).id, outcome))).toEqual([
      {
        type: 'status',
        payload: {
          state: 'complete',
          tool: 'test.echo',
          message: `Tool error: test.echo: it is ${outcome}`,
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
  },
)

test.each([
  ['cancelled', 'test.echo was stopped', true, 'cancelled'],
  ['answered', 'test.echo is done', false, 'ok'],
] as const)('a call that was %s is no tool error', (end, message, isError, outcome) => {
  const content = [{ type: 'text', text: `it is ${end}` }]
  expect(logEvents(story.settle(callBlock(generation).id, end))).toMatchObject([
    { payload: { state: 'complete', message, data: { content, isError } } },
    { payload: { state: 'result', outcome, content } },
  ])
})

test('the end of a turn is told with its outcome', () => {
  expect(logEvents(story.done())).toEqual([
    { type: 'status', payload: { state: 'complete', message: 'Done' } },
    { type: 'turn', payload: { state: 'done', messageId: 'm1', outcome: 'completed' } },
  ])
})

test('the end of a turn that failed is told with the reason', () => {
  const error = { code: 'denied' as const, message: 'the key is wrong' }
  expect(logEvents(story.turn({ type: 'turn-done', outcome: 'failed', error }))).toEqual([
    { type: 'status', payload: { state: 'complete', message: error.message } },
    { type: 'turn', payload: { state: 'done', outcome: 'failed', error } },
  ])
})

test('what the user reads in place of an answer is part of the text, before the end', () => {
  expect(logEvents(story.done('limit', 'I had to stop.'))).toEqual([
    { type: 'text', payload: { content: 'I had to stop.' } },
    { type: 'status', payload: { state: 'complete', message: 'Done' } },
    { type: 'turn', payload: { state: 'done', messageId: 'm1', outcome: 'limit' } },
  ])
})

test('a turn that was cancelled has stopped, and tells what it took', () => {
  const usage = [{ provider: 'demo', model: 'demo-1', generations: 1, outputTokens: 3 }]
  const done = story.turn({ type: 'turn-done', outcome: 'cancelled', usage })
  expect(logEvents(done)).toEqual([
    { type: 'status', payload: { state: 'complete', message: 'Stopped' } },
    { type: 'turn', payload: { state: 'done', outcome: 'cancelled', usage } },
  ])
})

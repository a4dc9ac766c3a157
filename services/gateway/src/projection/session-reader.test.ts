import type { GenerationId, SessionEvent } from '@mcp-host/contracts'
import { cursorAfter, parseCursor } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { callBlock, reasoningBlock, Story, textBlock } from './__fixtures__/story.ts'
import { SessionReader } from './session-reader.ts'

let story: Story
let reader: SessionReader
/** Number of entries of the story that the reader has received. */
let receivedCount: number
/** The running generation. */
let generation: GenerationId
beforeEach(() => {
  story = new Story()
  generation = story.claim(story.input('hello'))
  reader = new SessionReader(cursorAfter(0))
  receivedCount = 0
  catchUp()
})

/** Passes the further entries of the story to the reader. */
function catchUp(): SessionEvent[] {
  const fresh = story.entries.slice(receivedCount)
  receivedCount += fresh.length
  return fresh.flatMap((entry) => reader.entry(entry))
}

/** Each event as one line. */
function linesOf(events: readonly SessionEvent[] | 'gap'): string[] {
  if (events === 'gap') return ['gap']
  return events.map((event) =>
    event.type === 'text' || event.type === 'thinking'
      ? `${event.type}: ${event.payload.content}`
      : event.type,
  )
}

/** A reader that resumes after an id, with the events that it reads from the log. */
function resumeAfter(id = ''): { resumed: SessionReader; events: SessionEvent[] } {
  const resumed = new SessionReader(parseCursor(id) ?? cursorAfter(0))
  const entries = story.entries.filter(({ seq }) => seq > resumed.readAfter)
  return { resumed, events: entries.flatMap((entry) => resumed.entry(entry)) }
}

test('the progress of a call becomes an event until the call has ended', () => {
  const block = callBlock(generation)
  const call = block.id
  const report = { call, server: 's', tool: 't', progress: 1, total: 2, message: 'half' }
  story.result(generation, [block])
  catchUp()
  expect(reader.progress(report)).toEqual([
    {
      type: 'tool',
      payload: {
        state: 'progress',
        callId: call,
        server: 's',
        tool: 't',
        progress: 1,
        total: 2,
        message: 'half',
      },
    },
  ])
  story.toolFinished(call, 'x')
  catchUp()
  expect(reader.progress(report)).toEqual([])
})

describe('text of generations', () => {
  test('text is read from deltas, the rest from the result', () => {
    expect(linesOf(reader.delta(story.delta(generation, 0, 'Hello, ')))).toEqual(['text: Hello, '])
    story.result(generation, [textBlock('Hello, world.')])
    expect(linesOf(catchUp())).toEqual(['text: world.'])
  })

  test('text is read from the result without deltas', () => {
    story.result(generation, [reasoningBlock('hm'), textBlock('one'), textBlock('two')])
    expect(linesOf(catchUp())).toEqual(['thinking: hm', 'text: one', 'text: two'])
  })

  test('offsets count reasoning and text together', () => {
    reader.delta(story.delta(generation, 0, 'hmm', 'reasoning'))
    reader.delta(story.delta(generation, 3, 'an'))
    story.result(generation, [reasoningBlock('hmm'), textBlock('answer')])
    expect(linesOf(catchUp())).toEqual(['text: swer'])
  })

  test('text is not repeated when deltas overlap', () => {
    reader.delta(story.delta(generation, 0, 'abc'))
    expect(linesOf(reader.delta(story.delta(generation, 1, 'bcd')))).toEqual(['text: d'])
    expect(linesOf(reader.delta(story.delta(generation, 0, 'ab')))).toEqual([])
  })

  test('a missing delta is reported as a gap until it is filled', () => {
    reader.delta(story.delta(generation, 0, 'ab'))
    expect(reader.delta(story.delta(generation, 3, 'd'))).toBe('gap')
    expect(linesOf(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
  })

  test('deltas after the result of their generation are ignored', () => {
    story.result(generation, [textBlock('all')])
    catchUp()
    expect(reader.delta(story.delta(generation, 0, 'all'))).toEqual([])
    expect(reader.delta(story.delta(generation, 20, 'beyond'))).toEqual([])
    expect(reader.writing).toBeUndefined()
  })

  test('text comes before the tool calls of its result', () => {
    story.result(generation, [callBlock(generation), textBlock('I look it up')])
    expect(linesOf(catchUp())).toEqual(['text: I look it up', 'status', 'tool'])
  })

  test('a failed reply keeps its text but not its tool calls', () => {
    story.result(generation, [textBlock('half a'), callBlock(generation)], 'failed')
    expect(linesOf(catchUp())).toEqual(['text: half a'])
  })

  test('text that arrived before the start of its generation is reported as missing', () => {
    story.result(generation, [textBlock('one')])
    catchUp()
    const next = story.generation()
    const delta = story.delta(next, 0, 'too early')
    expect(reader.delta(delta)).toEqual([])
    expect(reader.missesText).toBe(false)
    catchUp()
    expect(reader.missesText).toBe(true)
    expect(linesOf(reader.delta(delta))).toEqual(['text: too early'])
    expect(reader.missesText).toBe(false)
  })
})

describe('void generations', () => {
  test('a void generation is reset, and its later text is ignored', () => {
    reader.delta(story.delta(generation, 0, 'old'))
    const next = story.generation(generation)
    expect(linesOf(catchUp())).toEqual(['reset', 'status'])
    expect(reader.delta(story.delta(generation, 3, ' text'))).toEqual([])
    story.result(generation, [textBlock('old text'), callBlock(generation)])
    expect(catchUp()).toEqual([])
    expect(linesOf(reader.delta(story.delta(next, 0, 'new')))).toEqual(['text: new'])
    expect(reader.missesText).toBe(false)
  })
})

describe('duplicate results', () => {
  test('the first of two results of a generation is used', () => {
    const [first, second] = [textBlock('first'), textBlock('the second one')]
    story.result(generation, [first, callBlock(generation)])
    story.result(generation, [second, callBlock(generation, 1)])
    expect(linesOf(catchUp())).toEqual(['text: first', 'status', 'tool'])
  })

  test.each([
    ['with a result', () => story.toolFinished(callBlock(generation).id, 'one')],
    ['that was settled', () => story.settle(callBlock(generation).id)],
  ])('a later result of a call %s is ignored', (_, answer) => {
    story.result(generation, [callBlock(generation)])
    catchUp()
    answer()
    expect(linesOf(catchUp())).toEqual(['status', 'tool'])
    story.toolFinished(callBlock(generation).id, 'late')
    expect(catchUp()).toEqual([])
  })

  test('a later result is ignored by a reader that resumes between the two', () => {
    story.result(generation, [callBlock(generation)])
    story.toolFinished(callBlock(generation).id, 'one')
    const id = catchUp().at(-1)?.id
    story.toolFinished(callBlock(generation).id, 'late')
    story.result(generation, [textBlock('late too')])
    expect(resumeAfter(id).events).toEqual([])
  })

  test('a result after the end of its turn is ignored', () => {
    story.result(generation, [callBlock(generation)])
    story.settle(callBlock(generation).id)
    story.done()
    const id = catchUp().at(-1)?.id
    story.toolFinished(callBlock(generation).id, 'late')
    expect(catchUp()).toEqual([])
    expect(resumeAfter(id).events).toEqual([])
  })
})

describe('elicitations', () => {
  const call = () => callBlock(generation).id
  /** The ids and states of elicitations in the events. */
  const states = (events: readonly SessionEvent[]): string[] =>
    events.flatMap((event) =>
      event.type === 'input' ? [`${event.payload.id} ${event.payload.state}`] : [],
    )
  beforeEach(() => {
    story.result(generation, [callBlock(generation), callBlock(generation, 1)])
    story.ask(call(), 'q1')
  })

  test('an elicitation ends with the first answer', () => {
    expect(states(catchUp())).toEqual(['q1 required'])
    story.answer('q1')
    expect(linesOf(catchUp())).toEqual(['status', 'input'])
    story.answer('q1', 'decline')
    story.closeQuestion(call(), 'q1', 'expired')
    expect(catchUp()).toEqual([])
  })

  test.each([
    ['expired', 'q1 expired', () => story.closeQuestion(call(), 'q1', 'expired')],
    ['was withdrawn', 'q1 void', () => story.closeQuestion(call(), 'q1', 'withdrawn')],
    ['belongs to an ended call', 'q1 void', () => story.toolFinished(call(), 'done')],
    ['belongs to a settled call', 'q1 void', () => story.settle(call())],
    ['belongs to a dead attempt', 'q1 void', () => story.toolStarted(call(), 2)],
  ])('an elicitation that %s takes no answer', (_, state, emit) => {
    catchUp()
    emit()
    expect(states(catchUp())).toEqual([state])
    story.answer('q1')
    expect(catchUp()).toEqual([])
  })

  test('an elicitation becomes void before the result of its call', () => {
    catchUp()
    story.toolFinished(call(), 'done')
    expect(linesOf(catchUp())).toEqual(['input', 'status', 'tool'])
  })

  test('an elicitation does not end with events of others', () => {
    catchUp()
    story.toolFinished(callBlock(generation, 1).id, 'done')
    story.closeQuestion(call(), 'q2', 'expired')
    story.answer('q2')
    story.toolStarted(call(), 1)
    expect(states(catchUp())).toEqual([])
  })

  test('an elicitation of an ended call is ignored', () => {
    story.settle(call())
    catchUp()
    story.ask(call(), 'late')
    story.answer('late')
    expect(catchUp()).toEqual([])
  })

  test('an elicitation of an earlier attempt is ignored', () => {
    story.toolStarted(call(), 2)
    story.ask(callBlock(generation, 1).id, 'other')
    const before = catchUp().at(-1)?.id
    story.ask(call(), 'late')
    story.answer('late')
    expect(catchUp()).toEqual([])
    story.ask(call(), 'q2', { attempt: 2 })
    const events = catchUp()
    expect(states(events)).toEqual(['q2 required'])
    expect(resumeAfter(before).events).toEqual(events)
    story.answer('late')
    story.toolFinished(call(), 'done')
    const end = catchUp()
    expect(states(end)).toEqual(['q2 void'])
    // The same for a reader that resumes after all of it.
    expect(resumeAfter(events.at(-1)?.id).events).toEqual(end)
  })

  test('elicitations are complete for a reader that resumes at any event', () => {
    story.ask(callBlock(generation, 1).id, 'q2')
    story.answer('q2')
    story.toolFinished(call(), 'done')
    story.answer('q1')
    story.toolFinished(callBlock(generation, 1).id, 'done')
    const events = catchUp()
    expect(states(events)).toEqual(['q1 required', 'q2 required', 'q2 answered', 'q1 void'])
    for (const [index, { id }] of events.entries()) {
      expect(resumeAfter(id).events).toEqual(events.slice(index + 1))
    }
  })
})

describe('approvals', () => {
  const call = () => callBlock(generation).id
  beforeEach(() => {
    story.result(generation, [callBlock(generation)])
    story.askApproval(call(), 'a1', 10)
    story.wait()
  })

  /** The states of approvals in the events. */
  const states = (events: readonly SessionEvent[]): string[] =>
    events.flatMap((event) => (event.type === 'input' ? [event.payload.state] : []))

  test('an approval takes the first answer, also for a reader that resumes at any event', () => {
    story.answer('a1')
    story.answer('a1', 'decline')
    story.takeOver()
    story.toolStarted(call())
    story.toolFinished(call(), 'hi')
    const events = catchUp()
    const required = ['status', 'tool', 'status', 'input', 'turn']
    expect(linesOf(events)).toEqual([...required, 'status', 'input', 'status', 'tool'])
    expect(states(events)).toEqual(['required', 'answered'])
    for (const [index, { id }] of events.entries()) {
      expect(resumeAfter(id).events).toEqual(events.slice(index + 1))
    }
  })

  test('an expired approval ends when the host refuses the call', () => {
    while ((story.entries.at(-1)?.time ?? 0) < 10) story.input('meanwhile')
    story.takeOver()
    story.settle(call(), 'refused')
    story.answer('a1')
    expect(states(catchUp())).toEqual(['required', 'expired'])
  })

  test('an approval ends with its turn', () => {
    story.done('cancelled')
    story.answer('a1')
    // No event of its own: a reader that resumes between the events of the turn would not know the approval.
    const events = catchUp()
    expect(states(events)).toEqual(['required'])
    for (const [index, { id }] of events.entries()) {
      expect(resumeAfter(id).events).toEqual(events.slice(index + 1))
    }
  })
})

test('an unreadable entry has no effect', () => {
  reader.delta(story.delta(generation, 0, 'ab'))
  for (const kind of ['input', 'turn', 'generation', 'tool'] as const) story.unreadable(kind)
  expect(catchUp()).toEqual([])
  expect(linesOf(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
})

test('a take-over of a turn has no events', () => {
  reader.delta(story.delta(generation, 0, 'ab'))
  story.takeOver()
  expect(catchUp()).toEqual([])
  expect(linesOf(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
})

test('an entry that was read before is ignored', () => {
  const claim = story.entries.at(-1)
  expect(claim && reader.entry(claim)).toEqual([])
})

describe('resumed readers', () => {
  test('a reader that resumes between the events of one entry gets the rest of them', () => {
    story.result(generation, [callBlock(generation), callBlock(generation, 1)])
    const events = catchUp()
    expect(events).toHaveLength(4)
    for (const [index, { id }] of events.entries()) {
      expect(resumeAfter(id).events).toEqual(events.slice(index + 1))
    }
  })

  test('a reader that resumes in the middle of a text gets the rest', () => {
    const [event] = reader.delta(story.delta(generation, 0, 'Hello, ')) as SessionEvent[]
    const { resumed, events } = resumeAfter(event?.id)
    expect(events).toEqual([])
    expect(resumed.delta(story.delta(generation, 9, 'rld'))).toBe('gap')
    expect(linesOf(resumed.delta(story.delta(generation, 5, ', wo')))).toEqual(['text: wo'])
    story.result(generation, [textBlock('Hello, world.')])
    expect(linesOf(resumeAfter(event?.id).events)).toEqual(['text: world.'])
  })

  test('a resumed reader has the offset of the running text', () => {
    const [event] = reader.delta(story.delta(generation, 0, 'Hi')) as SessionEvent[]
    expect(resumeAfter(event?.id).resumed.writing).toMatchObject({ offset: 2 })
    story.result(generation, [textBlock('Hi'), callBlock(generation)])
    const id = catchUp().at(-1)?.id
    expect(resumeAfter(id).resumed.writing).toBeUndefined()
  })
})

test('a generation that was started after the result of the one before is ignored', () => {
  const call = callBlock(generation)
  story.result(generation, [textBlock('all of it'), call])
  const stillborn = story.generation(generation)
  story.result(stillborn, [textBlock('too much')])
  story.toolFinished(call.id, 'done')
  const events = catchUp()
  expect(linesOf(events)).toEqual(['text: all of it', 'status', 'tool', 'status', 'tool'])
  expect(reader.delta(story.delta(stillborn, 0, 'too much'))).toEqual([])
  expect(reader.missesText).toBe(false)
  for (const [index, { id }] of events.entries()) {
    expect(resumeAfter(id).events).toEqual(events.slice(index + 1))
  }
})

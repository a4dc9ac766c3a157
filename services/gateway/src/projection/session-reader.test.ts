import type { GenerationId, SessionEvent } from '@mcp-host/contracts'
import { cursorAfter, parseCursor } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { callBlock, reasoningBlock, Story, textBlock } from './__fixtures__/story.ts'
import { SessionReader } from './session-reader.ts'

let story: Story
let reader: SessionReader
/** How many entries of the story the reader has had. */
let had: number
/** It has just begun to write. */
let generation: GenerationId
beforeEach(() => {
  story = new Story()
  generation = story.claim(story.input('hello'))
  reader = new SessionReader(cursorAfter(0))
  had = 0
  catchUp()
})

/** Gives the reader the entries it has not had. */
function catchUp(): SessionEvent[] {
  const fresh = story.entries.slice(had)
  had += fresh.length
  return fresh.flatMap((entry) => reader.entry(entry))
}

/** Each event in one word or line. */
function said(events: readonly SessionEvent[] | 'gap'): string[] {
  if (events === 'gap') return ['gap']
  return events.map((event) =>
    event.type === 'text' || event.type === 'thinking'
      ? `${event.type}: ${event.payload.content}`
      : event.type,
  )
}

/** What a reader gets that comes back with an id and reads the log anew. */
function comeBack(id = ''): { back: SessionReader; events: SessionEvent[] } {
  const back = new SessionReader(parseCursor(id) ?? cursorAfter(0))
  const entries = story.entries.filter(({ seq }) => seq > back.readAfter)
  return { back, events: entries.flatMap((entry) => back.entry(entry)) }
}

test('the progress of a tool is given until its call is over', () => {
  const asked = callBlock(generation)
  const call = asked.id
  const report = { call, server: 's', tool: 't', progress: 1, total: 2, message: 'half' }
  story.result(generation, [asked])
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

describe('the text of a generation', () => {
  test('comes from its deltas, the rest from its result', () => {
    expect(said(reader.delta(story.delta(generation, 0, 'Hello, ')))).toEqual(['text: Hello, '])
    story.result(generation, [textBlock('Hello, world.')])
    expect(said(catchUp())).toEqual(['text: world.'])
  })

  test('comes from the result alone when no delta came', () => {
    story.result(generation, [reasoningBlock('hm'), textBlock('one'), textBlock('two')])
    expect(said(catchUp())).toEqual(['thinking: hm', 'text: one', 'text: two'])
  })

  test('counts reasoning and text with one offset', () => {
    reader.delta(story.delta(generation, 0, 'hmm', 'reasoning'))
    reader.delta(story.delta(generation, 3, 'an'))
    story.result(generation, [reasoningBlock('hmm'), textBlock('answer')])
    expect(said(catchUp())).toEqual(['text: swer'])
  })

  test('is not repeated where deltas overlap', () => {
    reader.delta(story.delta(generation, 0, 'abc'))
    expect(said(reader.delta(story.delta(generation, 1, 'bcd')))).toEqual(['text: d'])
    expect(said(reader.delta(story.delta(generation, 0, 'ab')))).toEqual([])
  })

  test('is reported as a gap where a delta is missing, and goes on once it is filled', () => {
    reader.delta(story.delta(generation, 0, 'ab'))
    expect(reader.delta(story.delta(generation, 3, 'd'))).toBe('gap')
    expect(said(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
  })

  test('is complete with its result: later deltas are nothing new', () => {
    story.result(generation, [textBlock('all')])
    catchUp()
    expect(reader.delta(story.delta(generation, 0, 'all'))).toEqual([])
    expect(reader.delta(story.delta(generation, 20, 'beyond'))).toEqual([])
    expect(reader.writing).toBeUndefined()
  })

  test('comes before the tool calls of its result', () => {
    story.result(generation, [callBlock(generation), textBlock('I look it up')])
    expect(said(catchUp())).toEqual(['text: I look it up', 'status', 'tool'])
  })

  test('is kept when the reply failed half-way, its tool calls are not', () => {
    story.result(generation, [textBlock('half a'), callBlock(generation)], 'failed')
    expect(said(catchUp())).toEqual(['text: half a'])
  })

  test('that came before the start of its generation is known to be missing', () => {
    story.result(generation, [textBlock('one')])
    catchUp()
    const next = story.generation()
    const delta = story.delta(next, 0, 'too early')
    expect(reader.delta(delta)).toEqual([])
    expect(reader.missesText).toBe(false)
    catchUp()
    expect(reader.missesText).toBe(true)
    expect(said(reader.delta(delta))).toEqual(['text: too early'])
    expect(reader.missesText).toBe(false)
  })
})

describe('a generation that was given up', () => {
  test('is reset; what still comes of it is left out', () => {
    reader.delta(story.delta(generation, 0, 'old'))
    const next = story.generation(generation)
    expect(said(catchUp())).toEqual(['reset', 'status'])
    expect(reader.delta(story.delta(generation, 3, ' text'))).toEqual([])
    story.result(generation, [textBlock('old text'), callBlock(generation)])
    expect(catchUp()).toEqual([])
    expect(said(reader.delta(story.delta(next, 0, 'new')))).toEqual(['text: new'])
    expect(reader.missesText).toBe(false)
  })
})

describe('of two answers the first counts', () => {
  test('when a generation has two results', () => {
    const [first, second] = [textBlock('first'), textBlock('the second one')]
    story.result(generation, [first, callBlock(generation)])
    story.result(generation, [second, callBlock(generation, 1)])
    expect(said(catchUp())).toEqual(['text: first', 'status', 'tool'])
  })

  test.each([
    ['has two results', () => story.toolFinished(callBlock(generation).id, 'one')],
    ['was closed without a result', () => story.settle(callBlock(generation).id)],
  ])('when a tool call %s', (_, answer) => {
    story.result(generation, [callBlock(generation)])
    catchUp()
    answer()
    expect(said(catchUp())).toEqual(['status', 'tool'])
    story.toolFinished(callBlock(generation).id, 'late')
    expect(catchUp()).toEqual([])
  })

  test('also for a reader that comes back between them', () => {
    story.result(generation, [callBlock(generation)])
    story.toolFinished(callBlock(generation).id, 'one')
    const id = catchUp().at(-1)?.id
    story.toolFinished(callBlock(generation).id, 'late')
    story.result(generation, [textBlock('late too')])
    expect(comeBack(id).events).toEqual([])
  })

  test('and an answer after the end of the turn is none', () => {
    story.result(generation, [callBlock(generation)])
    story.settle(callBlock(generation).id)
    story.done()
    const id = catchUp().at(-1)?.id
    story.toolFinished(callBlock(generation).id, 'late')
    expect(catchUp()).toEqual([])
    expect(comeBack(id).events).toEqual([])
  })
})

describe('a question of a tool', () => {
  const call = () => callBlock(generation).id
  /** The states of questions among the events. */
  const states = (events: readonly SessionEvent[]): string[] =>
    events.flatMap((event) =>
      event.type === 'input' ? [`${event.payload.id} ${event.payload.state}`] : [],
    )
  beforeEach(() => {
    story.result(generation, [callBlock(generation), callBlock(generation, 1)])
    story.ask(call(), 'q1')
  })

  test('ends with the first answer', () => {
    expect(states(catchUp())).toEqual(['q1 required'])
    story.answer('q1')
    expect(said(catchUp())).toEqual(['status', 'input'])
    story.answer('q1', 'decline')
    story.closeQuestion(call(), 'q1', 'expired')
    expect(catchUp()).toEqual([])
  })

  test.each([
    ['expired', 'q1 expired', () => story.closeQuestion(call(), 'q1', 'expired')],
    ['was withdrawn', 'q1 void', () => story.closeQuestion(call(), 'q1', 'withdrawn')],
    ['has lost its call', 'q1 void', () => story.toolFinished(call(), 'done')],
    ['has lost its call to the orchestrator', 'q1 void', () => story.settle(call())],
    ['was asked by a dead supervisor', 'q1 void', () => story.toolStarted(call(), 2)],
  ])('that %s takes no answer any more', (_, state, happen) => {
    catchUp()
    happen()
    expect(states(catchUp())).toEqual([state])
    story.answer('q1')
    expect(catchUp()).toEqual([])
  })

  test('is void before the result of its call is told', () => {
    catchUp()
    story.toolFinished(call(), 'done')
    expect(said(catchUp())).toEqual(['input', 'status', 'tool'])
  })

  test('does not end with what happens to others', () => {
    catchUp()
    story.toolFinished(callBlock(generation, 1).id, 'done')
    story.closeQuestion(call(), 'q2', 'expired')
    story.answer('q2')
    story.toolStarted(call(), 1)
    expect(states(catchUp())).toEqual([])
  })

  test('of a call that is over means nothing', () => {
    story.settle(call())
    catchUp()
    story.ask(call(), 'late')
    story.answer('late')
    expect(catchUp()).toEqual([])
  })

  test('that was asked by a dead supervisor after its call was run anew means nothing', () => {
    story.toolStarted(call(), 2)
    story.ask(callBlock(generation, 1).id, 'other')
    const before = catchUp().at(-1)?.id
    story.ask(call(), 'late')
    story.answer('late')
    expect(catchUp()).toEqual([])
    story.ask(call(), 'q2', { attempt: 2 })
    const events = catchUp()
    expect(states(events)).toEqual(['q2 required'])
    expect(comeBack(before).events).toEqual(events)
    story.answer('late')
    story.toolFinished(call(), 'done')
    const end = catchUp()
    expect(states(end)).toEqual(['q2 void'])
    // Also where all of it is only looked back at.
    expect(comeBack(events.at(-1)?.id).events).toEqual(end)
  })

  test('is known to a reader that comes back anywhere', () => {
    story.ask(callBlock(generation, 1).id, 'q2')
    story.answer('q2')
    story.toolFinished(call(), 'done')
    story.answer('q1')
    story.toolFinished(callBlock(generation, 1).id, 'done')
    const events = catchUp()
    expect(states(events)).toEqual(['q1 required', 'q2 required', 'q2 answered', 'q1 void'])
    for (const [index, { id }] of events.entries()) {
      expect(comeBack(id).events).toEqual(events.slice(index + 1))
    }
  })
})

describe('a call that needs permission', () => {
  const call = () => callBlock(generation).id
  beforeEach(() => {
    story.result(generation, [callBlock(generation)])
    story.askApproval(call(), 'a1', 10)
    story.wait()
  })

  /** How questions stand, by the events. */
  const states = (events: readonly SessionEvent[]): string[] =>
    events.flatMap((event) => (event.type === 'input' ? [event.payload.state] : []))

  test('is asked for, the turn waits, and the first answer counts, wherever one comes back', () => {
    story.answer('a1')
    story.answer('a1', 'decline')
    story.takeOver()
    story.toolStarted(call())
    story.toolFinished(call(), 'hi')
    const events = catchUp()
    const asked = ['status', 'tool', 'status', 'input', 'turn']
    expect(said(events)).toEqual([...asked, 'status', 'input', 'status', 'tool'])
    expect(states(events)).toEqual(['required', 'answered'])
    for (const [index, { id }] of events.entries()) {
      expect(comeBack(id).events).toEqual(events.slice(index + 1))
    }
  })

  test('that came in no time is over when the host refuses the call', () => {
    while ((story.entries.at(-1)?.time ?? 0) < 10) story.input('meanwhile')
    story.takeOver()
    story.settle(call(), 'refused')
    story.answer('a1')
    expect(states(catchUp())).toEqual(['required', 'expired'])
  })

  test('ends with the turn', () => {
    story.done('cancelled')
    story.answer('a1')
    // The turn's own events say so: who comes back between them could not know of the question any more.
    const events = catchUp()
    expect(states(events)).toEqual(['required'])
    for (const [index, { id }] of events.entries()) {
      expect(comeBack(id).events).toEqual(events.slice(index + 1))
    }
  })
})

test('what cannot be read changes nothing', () => {
  reader.delta(story.delta(generation, 0, 'ab'))
  for (const kind of ['input', 'turn', 'generation', 'tool'] as const) story.unreadable(kind)
  expect(catchUp()).toEqual([])
  expect(said(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
})

test('a turn that another orchestrator takes over goes on without a word', () => {
  reader.delta(story.delta(generation, 0, 'ab'))
  story.takeOver()
  expect(catchUp()).toEqual([])
  expect(said(reader.delta(story.delta(generation, 2, 'cd')))).toEqual(['text: cd'])
})

test('entries that were seen mean nothing', () => {
  const claim = story.entries.at(-1)
  expect(claim && reader.entry(claim)).toEqual([])
})

describe('a reader that comes back', () => {
  test('inside the events of one entry gets those it has not seen', () => {
    story.result(generation, [callBlock(generation), callBlock(generation, 1)])
    const events = catchUp()
    expect(events).toHaveLength(4)
    for (const [index, { id }] of events.entries()) {
      expect(comeBack(id).events).toEqual(events.slice(index + 1))
    }
  })

  test('in the middle of a text gets what follows', () => {
    const [event] = reader.delta(story.delta(generation, 0, 'Hello, ')) as SessionEvent[]
    const { back, events } = comeBack(event?.id)
    expect(events).toEqual([])
    expect(back.delta(story.delta(generation, 9, 'rld'))).toBe('gap')
    expect(said(back.delta(story.delta(generation, 5, ', wo')))).toEqual(['text: wo'])
    story.result(generation, [textBlock('Hello, world.')])
    expect(said(comeBack(event?.id).events)).toEqual(['text: world.'])
  })

  test('knows whether text is still being written', () => {
    const [event] = reader.delta(story.delta(generation, 0, 'Hi')) as SessionEvent[]
    expect(comeBack(event?.id).back.writing).toMatchObject({ offset: 2 })
    story.result(generation, [textBlock('Hi'), callBlock(generation)])
    const id = catchUp().at(-1)?.id
    expect(comeBack(id).back.writing).toBeUndefined()
  })
})

test('a generation that was started although the one before had its result is as if it were not', () => {
  const call = callBlock(generation)
  story.result(generation, [textBlock('all of it'), call])
  const stillborn = story.generation(generation)
  story.result(stillborn, [textBlock('too much')])
  story.toolFinished(call.id, 'done')
  const events = catchUp()
  expect(said(events)).toEqual(['text: all of it', 'status', 'tool', 'status', 'tool'])
  expect(reader.delta(story.delta(stillborn, 0, 'too much'))).toEqual([])
  expect(reader.missesText).toBe(false)
  for (const [index, { id }] of events.entries()) {
    expect(comeBack(id).events).toEqual(events.slice(index + 1))
  }
})

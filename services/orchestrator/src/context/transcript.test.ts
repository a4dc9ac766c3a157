import type { PromptMessage } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { describe, expect, test } from 'vitest'
import {
  call,
  claim,
  compacted,
  done,
  finished,
  fold,
  input,
  next,
  reasoning,
  result,
  settled,
  text,
} from './__fixtures__/facts.ts'
import { transcript } from './transcript.ts'

const messagesFor = (state: SessionState, current: number): PromptMessage[] =>
  transcript(state, current, { maxResultTokens: 100 })

test('a transcript has the claimed turns in order, then the current message', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [text('first')]),
    done(1),
    input('b', 'two'),
  )
  expect(messagesFor(state, 5)).toEqual([
    { role: 'user', text: 'one' },
    { role: 'assistant', content: [text('first')] },
    { role: 'user', text: 'two' },
  ])
})

test('a transcript leaves out queued messages', () => {
  const state = fold(input('a', 'one'), input('b', 'two'), input('c', 'three'), claim(1, 0))
  expect(messagesFor(state, 1)).toEqual([{ role: 'user', text: 'one' }])
})

test('answers follow their own messages, whenever these were sent', () => {
  const state = fold(
    input('a', 'one'),
    input('b', 'two'),
    claim(1, 0),
    result(0, [text('to one')]),
    done(1),
    claim(2, 3),
  )
  expect(messagesFor(state, 2).map((message) => message.role)).toEqual([
    'user',
    'assistant',
    'user',
  ])
  expect(messagesFor(state, 2).at(-1)).toEqual({ role: 'user', text: 'two' })
})

test('a message that was stored twice appears once', () => {
  const state = fold(input('a', 'one'), claim(1, 0), result(0, []), input('a', 'one'))
  expect(messagesFor(state, 1)).toEqual([{ role: 'user', text: 'one' }])
})

test('each reply is followed by the results of its calls, in the order of the calls', () => {
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
  expect(messagesFor(state, 1)).toEqual([
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

test('text and calls of a void generation are left out', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    next(1, 2, 0),
    result(0, [text('late'), call(0)]),
    result(2, [text('anew')]),
  )
  expect(messagesFor(state, 1).slice(1)).toEqual([{ role: 'assistant', content: [text('anew')] }])
})

test('a generation whose result came before it was voided is kept', () => {
  const facts = [input('a', 'one'), claim(1, 0), result(0, [text('in time')]), next(1, 2, 0)]
  expect(messagesFor(fold(...facts), 1).slice(1)).toEqual([
    { role: 'assistant', content: [text('in time')] },
  ])
})

test('only the text of a failed reply is kept', () => {
  const content = [reasoning('hm'), text('half a'), call(0)]
  const state = fold(input('a', 'one'), claim(1, 0), result(0, content, { outcome: 'failed' }))
  expect(messagesFor(state, 1).slice(1)).toEqual([{ role: 'assistant', content: [text('half a')] }])
})

test('a reply that failed before its first text is left out', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [reasoning('hm')], { outcome: 'failed' }),
  )
  expect(messagesFor(state, 1)).toEqual([{ role: 'user', text: 'one' }])
})

test.each(['refused', 'unknown'] as const)(
  'a call that was %s is answered with the reason',
  (outcome) => {
    const state = fold(
      input('a', 'one'),
      claim(1, 0),
      result(0, [call(0)]),
      settled(1, call(0), outcome),
    )
    expect(messagesFor(state, 1).at(-1)).toMatchObject({
      answers: [{ text: `it is ${outcome}`, isError: true }],
    })
  },
)

test('facts after the settlement of a call do not change the transcript', () => {
  const facts = [
    input('a', 'one'),
    claim(1, 0),
    result(0, [call(0)]),
    settled(1, call(0), 'unknown'),
  ]
  const before = messagesFor(fold(...facts), 1)
  expect(messagesFor(fold(...facts, finished(call(0), [text('late')])), 1)).toEqual(before)
})

test("a tool's own error and a failure of the host are results with isError", () => {
  const facts = [input('a', 'one'), claim(1, 0), result(0, [call(0), call(0, 1)])]
  const error = { code: 'deadline' as const, message: 'it took too long' }
  const state = fold(
    ...facts,
    finished(call(0), [text('out of paper')], { outcome: 'error' }),
    finished(call(0, 1), [], { outcome: 'error', error }),
  )
  expect(messagesFor(state, 1).at(-1)).toMatchObject({
    answers: [
      { text: 'out of paper', isError: true },
      { text: 'it took too long', isError: true },
    ],
  })
})

test('every call of a reply has a result, as providers require, also an unfinished one', () => {
  const state = fold(input('a', 'one'), claim(1, 0), result(0, [call(0)]))
  expect(messagesFor(state, 1).at(-1)).toMatchObject({
    answers: [{ text: 'no answer', isError: true }],
  })
})

/** A turn with one call, in seven entries from sequence `seq` on. */
function turnWith(seq: number, id: string, content: string): Parameters<typeof fold> {
  const block = call(seq)
  return [
    input(id, `ask ${id}`),
    claim(seq, seq),
    result(seq, [block]),
    finished(block, [text(content)]),
    next(seq, seq + 1),
    result(seq + 1, [text(`reply ${id}`)]),
    done(seq),
  ]
}

const linesOf = (messages: PromptMessage[]): string[] =>
  messages.flatMap((message) => {
    if (message.role === 'tool') return message.answers.map((answer) => answer.text)
    if (message.role === 'user') return [message.text]
    return message.content.map((block) => (block.type === 'tool-call' ? 'call' : block.text))
  })

test('a message that replaces another begins a branch without the later turns', () => {
  const state = fold(
    ...turnWith(1, 'a', 'x'),
    ...turnWith(8, 'b', 'y'),
    input('c', 'differently', 'b'),
  )
  expect(linesOf(messagesFor(state, 15))).toEqual(['ask a', 'call', 'x', 'reply a', 'differently'])
  expect(linesOf(messagesFor(state, 8)).at(-1)).toBe('reply b')
})

test('a message that was cancelled before its turn ran is left out', () => {
  const facts = [input('a', 'withdrawn'), claim(1), done(1, 'cancelled'), input('b', 'but this')]
  expect(linesOf(messagesFor(fold(...facts), 4))).toEqual(['but this'])
})

test('a cancelled turn keeps its text and a note that the user stopped it', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [call(0)]),
    settled(1, call(0), 'cancelled'),
    next(1, 4),
    result(4, [text('half a'), call(4)], { outcome: 'cancelled' }),
    done(1, 'cancelled'),
    input('b', 'two'),
  )
  expect(linesOf(messagesFor(state, 8))).toEqual([
    'one',
    'call',
    'it is cancelled',
    'half a',
    '[I stopped this answer here.]',
    'two',
  ])
})

test('a failed turn keeps its tool results but not its partial text', () => {
  const state = fold(
    input('a', 'send the mail'),
    claim(1, 0),
    result(0, [text('I send it'), call(0)]),
    finished(call(0), [text('sent')]),
    next(1, 4),
    result(4, [text('half a')], { outcome: 'failed' }),
    done(1, 'failed'),
    input('b', 'send the mail'),
  )
  expect(linesOf(messagesFor(state, 8))).toEqual([
    'send the mail',
    'I send it',
    'call',
    'sent',
    expect.stringMatching(/failed here, and I was asked to send the message again.* stays done/),
    'send the mail',
  ])
})

test('a turn that failed before a tool ran keeps only its message', () => {
  const state = fold(
    input('a', 'one'),
    claim(1, 0),
    result(0, [text('half a')], { outcome: 'failed' }),
    done(1, 'failed'),
    input('b', 'two'),
  )
  expect(linesOf(messagesFor(state, 5))).toEqual(['one', 'two'])
})

test('an answer of the host itself is not an error', () => {
  const facts = [input('a', 'one'), claim(1, 0), result(0, [call(0)])]
  const state = fold(...facts, settled(1, call(0), 'answered', 'part two'))
  expect(messagesFor(state, 1).at(-1)).toMatchObject({
    answers: [{ text: 'part two', isError: false }],
  })
})

test('a summary replaces the turns that it covers', () => {
  const state = fold(
    ...turnWith(1, 'a', 'x'),
    ...turnWith(8, 'b', 'y'),
    input('c', 'and now'),
    claim(15, 15),
    compacted(15, 'summarised', 1, 'they met'),
  )
  const lines = linesOf(messagesFor(state, 15))
  expect(lines[0]).toContain('Summary of the conversation so far')
  expect(lines[0]).toContain('they met')
  expect(lines.slice(1)).toEqual(['ask b', 'call', 'y', 'reply b', 'and now'])
})

test('the latest checkpoint of the branch is used', () => {
  const state = fold(
    ...turnWith(1, 'a', 'x'),
    ...turnWith(8, 'b', 'y'),
    input('c', 'and now'),
    claim(15, 15),
    compacted(15, 'summarised', 1, 'they met'),
    compacted(15, 'summarised', 8, 'they met twice'),
    done(15),
    input('d', 'differently', 'b'),
  )
  expect(linesOf(messagesFor(state, 15))).toEqual([
    expect.stringContaining('they met twice'),
    'and now',
  ])
  expect(linesOf(messagesFor(state, 20))).toEqual([
    expect.stringContaining('they met'),
    'differently',
  ])
})

test('a transcript states that its beginning was dropped', () => {
  const state = fold(
    ...turnWith(1, 'a', 'x'),
    input('b', 'and now'),
    claim(8, 8),
    compacted(8, 'dropped', 1),
  )
  expect(linesOf(messagesFor(state, 8))).toEqual([
    expect.stringContaining('was left out'),
    'and now',
  ])
})

test('cleared results are replaced by stubs that name the tool to read them', () => {
  const long = 'word '.repeat(60)
  const state = fold(
    ...turnWith(1, 'a', long),
    ...turnWith(8, 'b', 'short'),
    ...turnWith(15, 'c', long),
    ...turnWith(22, 'd', long),
    input('e', 'and now'),
    claim(29, 29),
    compacted(29, 'cleared', 17),
  )
  const answers = messagesFor(state, 29).flatMap((message) =>
    message.role === 'tool' ? message.answers.map((answer) => answer.text) : [],
  )
  const cleared = (seq: number): unknown =>
    expect.stringMatching(`cleared .* result__read and call "${call(seq).id}"`)
  expect(answers).toEqual([cleared(1), 'short', cleared(15), long])
  expect(linesOf(messagesFor(state, 29)).filter((line) => line === 'call')).toHaveLength(4)
})

test('a long result is cut to its beginning and end with a note on how to read the rest', () => {
  const long = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n')
  const facts = [input('a', 'one'), claim(1, 0), result(0, [call(0)])]
  const [, , shown = ''] = linesOf(messagesFor(fold(...facts, finished(call(0), [text(long)])), 1))
  expect(shown.length).toBeLessThan(long.length / 2)
  const [head = '', note = '', tail = ''] = shown.split(/\n(\[….*…\])\n/)
  expect([long.startsWith(head), long.endsWith(tail)]).toEqual([true, true])
  expect(note).toContain(
    `${long.length - head.length - tail.length} of ${long.length} characters are left out`,
  )
  expect(note).toContain(`result__read with call "${call(0).id}" and offset ${head.length}`)
})

test.each([30, 3_000])(
  'a stored result is shown as its excerpt of %d words as far as that fits, with the offset of the rest',
  (words) => {
    const excerpt = 'word '.repeat(words)
    const blob = { key: 'k', bytes: 700_000, digest: 'd' }
    const content = [text(excerpt), text('… (the first of many)')]
    const state = fold(
      input('a', 'one'),
      claim(1, 0),
      result(0, [call(0)]),
      finished(call(0), content, { blob }),
    )
    const [, , shown = ''] = linesOf(messagesFor(state, 1))
    const [head = '', note] = shown.split('\n')
    expect(excerpt.startsWith(head)).toBe(true)
    expect(head.length).toBe(words === 30 ? excerpt.length : head.length)
    expect(head.length).toBeLessThan(1_000)
    expect(note).toContain('700000 bytes')
    expect(note).toContain(`offset ${head.length}`)
  },
)

test('turns whose text was pruned from the state are left out', () => {
  const state = fold(...turnWith(1, 'a', 'x'), input('b', 'two'))
  const first = state.inputs.get(1)
  if (first === undefined) throw new Error('there is a first message')
  state.inputs.set(1, { ...first, text: '' })
  state.prunedThrough = 1
  expect(linesOf(messagesFor(state, 8))).toEqual(['two'])
})

describe('files', () => {
  const blob = { key: 'k', bytes: 3, digest: 'd' }
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' }

  test('files of a message are part of it', () => {
    const attachments = [{ mimeType: 'image/png', name: 'a.png', blob }]
    const state = fold({ kind: 'input', fact: { id: 'a', text: 'look', attachments } })
    expect(messagesFor(state, 1)).toEqual([{ role: 'user', text: 'look', media: attachments }])
  })

  test('a message of files alone is part of it, also from a snapshot', () => {
    const attachments = [{ mimeType: 'image/png', name: 'a.png', blob }]
    const state = fold({ kind: 'input', fact: { id: 'a', text: '', attachments } })
    state.prunedThrough = 1
    expect(messagesFor(state, 1)).toEqual([{ role: 'user', text: '', media: attachments }])
  })

  test('files of a tool result are part of it until the result is cleared', () => {
    const block = call(0, 0)
    const stored = { type: 'image', mimeType: 'image/gif', stored: blob }
    const facts = [
      input('a', 'one'),
      claim(1, 0),
      result(0, [block]),
      finished(block, [{ type: 'text', text: 'x'.repeat(300) }, image, stored]),
      done(1),
      input('b', 'two'),
    ]
    const answers = (state: SessionState) =>
      messagesFor(state, 6).flatMap((each) => (each.role === 'tool' ? each.answers : []))
    expect(answers(fold(...facts))).toMatchObject([
      {
        media: [
          { mimeType: 'image/png', data: 'AAAA' },
          { mimeType: 'image/gif', blob },
        ],
      },
    ])
    const cleared = { ...fold(...facts), clearedThrough: 6 }
    expect(answers(cleared)[0]).not.toHaveProperty('media')
  })
})

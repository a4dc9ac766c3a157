import type { Answer } from '@mcp-host/client'
import type { SessionEvent } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { QuestionDesk } from './question-desk.ts'

type InputEvent = Extract<SessionEvent, { type: 'input' }>

let written: string
/** What the user will write; the desk waits when there is nothing. */
let lines: (string | undefined)[]
let prompts: string[]
let answers: Answer[]
let desk: QuestionDesk
beforeEach(() => {
  written = ''
  lines = []
  prompts = []
  answers = []
  desk = new QuestionDesk({
    write: (text) => void (written += text),
    readLine(prompt, signal) {
      prompts.push(prompt)
      if (lines.length > 0) return Promise.resolve(lines.shift())
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(undefined))
      })
    },
    answer: (answer) => void answers.push(answer),
  })
})

const about = {
  kind: 'elicitation' as const,
  callId: 'c',
  server: 'test',
  tool: 'ask',
  message: 'Who\u001B[2J are you?',
}
const requestedSchema = {
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name'],
}
const required = (id: string, more: object = {}): InputEvent => ({
  type: 'input',
  id: '1',
  payload: {
    state: 'required',
    id,
    ...about,
    mode: 'form',
    requestedSchema,
    expiresAt: 0,
    ...more,
  },
})
const ended = (id: string): InputEvent => ({
  type: 'input',
  id: '2',
  payload: { state: 'expired', id, ...about },
})
const given = (count: number): Promise<void> =>
  vi.waitFor(() => expect(answers).toHaveLength(count))

test('a form is asked field by field, until each fits', async () => {
  lines = ['', 'Ann', 'old', '7']
  desk.take(required('q1'))
  await given(1)
  expect(answers).toEqual([{ id: 'q1', action: 'accept', content: { name: 'Ann', age: 7 } }])
  expect(prompts).toHaveLength(4)
  expect(written).toContain('? test.ask asks: Who [2J are you?\n')
})

test('what is not needed may be left out', async () => {
  lines = ['Ann', '']
  desk.take(required('q1'))
  await given(1)
  expect(answers[0]?.content).toEqual({ name: 'Ann' })
})

test.each(['decline', 'cancel'] as const)('the user may say /%s at any field', async (action) => {
  lines = ['Ann', `/${action}`]
  desk.take(required('q1'))
  await given(1)
  expect(answers).toEqual([{ id: 'q1', action }])
})

test('a page is to be visited', async () => {
  lines = ['']
  desk.take(required('q1', { mode: 'url', url: 'https://example.com/\u001B[2J' }))
  await given(1)
  expect(written).toContain('  https://example.com/ [2J\n')
  expect(answers).toEqual([{ id: 'q1', action: 'accept' }])
})

describe('a call that needs permission', () => {
  const approval = { kind: 'approval', mode: 'approval', arguments: { path: '/\u001B[2J' } }

  test.each([
    ['y', 'accept'],
    [' Yes ', 'accept'],
    ['n', 'decline'],
    ['/cancel', 'cancel'],
  ])('%j: %s', async (line, action) => {
    lines = ['perhaps', '', line]
    desk.take(required('a1', approval))
    await given(1)
    expect(answers).toEqual([{ id: 'a1', action }])
    expect(prompts).toHaveLength(3)
    expect(written).toContain('? Who [2J are you?\n  test.ask {"path":"/\\u001b[2J"}\n')
  })

  test('is refused where nobody sits', async () => {
    lines = [undefined]
    desk.take(required('a1', approval))
    await given(1)
    expect(answers).toEqual([{ id: 'a1', action: 'decline' }])
  })
})

test('where nobody sits it is declined with a note', async () => {
  lines = [undefined]
  desk.take(required('q1'))
  await given(1)
  expect(answers).toEqual([{ id: 'q1', action: 'decline' }])
  expect(written).toContain('nobody here to answer')
})

describe('of several questions', () => {
  test('one is asked after another', async () => {
    lines = ['Ann', '', 'Bob', '']
    desk.take(required('q1'))
    desk.take(required('q2'))
    await given(2)
    expect(answers.map(({ id, content }) => [id, content?.['name']])).toEqual([
      ['q1', 'Ann'],
      ['q2', 'Bob'],
    ])
  })

  test('those that end elsewhere are not asked any more', async () => {
    desk.take(required('q1'))
    desk.take(required('q2'))
    desk.take(required('q3'))
    await vi.waitFor(() => expect(prompts).toHaveLength(1))
    desk.take(ended('q2'))
    lines = ['Cid', '']
    desk.take(ended('q1'))
    await given(1)
    expect(answers).toMatchObject([{ id: 'q3' }])
  })
})

describe('an answer that is refused', () => {
  test('is asked for again when it was at fault', async () => {
    lines = ['Ann', '', 'Annabel', '']
    desk.take(required('q1'))
    await given(1)
    desk.refused('q1', { code: 'invalid', message: 'answer: name must have 5 characters' })
    await given(2)
    expect(written).toContain('Not accepted: answer: name must have 5 characters')
    expect(answers[1]?.content).toEqual({ name: 'Annabel' })
  })

  test('is left when somebody else was first', async () => {
    lines = ['Ann', '', 'more']
    desk.take(required('q1'))
    await given(1)
    desk.refused('q1', { code: 'not-found', message: 'answered already' })
    desk.take(ended('q1'))
    lines = ['Bob', '']
    desk.take(required('q2'))
    await given(2)
    expect(answers[1]).toMatchObject({ id: 'q2' })
    expect(written).not.toContain('Not accepted')
  })
})

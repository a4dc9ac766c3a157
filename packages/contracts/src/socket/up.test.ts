import { describe, expect, test } from 'vitest'
import { BusError } from '../error.ts'
import { MAX_MESSAGE_LENGTH, Up } from './up.ts'

function textOf(text: string): string {
  const up = Up.parse({ type: 'message', payload: { text } })
  return up.type === 'message' ? up.payload.text : ''
}

function refusal(frame: unknown): BusError {
  const { error } = Up.safeParse(frame)
  if (error === undefined) throw new Error('was not refused')
  return BusError.fromZod(error, 'frame')
}

const refusedText = (text: unknown) => refusal({ type: 'message', payload: { text } })

describe('the text of a message', () => {
  test('loses its control characters but keeps tabs and line breaks', () => {
    expect(textOf('a\u0000b\u001B[31m\u007F\u0085c\td\r\ne')).toBe('ab[31mc\td\r\ne')
  })

  test('has lone surrogates replaced, which could not be stored', () => {
    expect(textOf('a\uD800b\uDC00c')).toBe('a\uFFFDb\uFFFDc')
    expect(textOf('\uD83D\uDE00')).toBe('\u{1F600}')
  })

  test.each([
    ['is empty', ''],
    ['is white space', ' \n\t '],
    ['is empty once it is cleaned', '\u0000 \u0007'],
  ])('is refused when it %s', (_, text) => {
    expect(refusedText(text)).toMatchObject({
      code: 'invalid',
      field: 'payload.text',
      message: 'frame: payload.text: must not be empty',
    })
  })

  test('may be as long as the limit and not longer', () => {
    const longest = 'x'.repeat(MAX_MESSAGE_LENGTH)
    expect(textOf(longest)).toBe(longest)
    expect(refusedText(`${longest}x`)).toMatchObject({
      field: 'payload.text',
      message: `frame: payload.text: must not be longer than ${MAX_MESSAGE_LENGTH} characters`,
    })
  })

  test('is refused when it is no text', () => {
    expect(refusedText(5)).toMatchObject({ code: 'invalid', field: 'payload.text' })
  })
})

describe("a client's message id", () => {
  const withId = (id: string) => ({ type: 'message', payload: { text: 'hi', id } })

  test('is passed on', () => {
    expect(Up.parse(withId('my-id_1'))).toEqual(withId('my-id_1'))
  })

  test.each(['', 'a b', 'a.b', 'é', 'x'.repeat(65)])('is not %j', (id) => {
    expect(refusal(withId(id)).field).toBe('payload.id')
  })
})

describe('an answer', () => {
  const answer = (payload: object) => ({ type: 'answer', payload: { id: 'q1', ...payload } })

  test('has values of every kind, and their texts are cleaned', () => {
    const content = { name: 'A\u0000nn', age: 7, isOld: false, likes: ['te\u001Ba'] }
    expect(Up.parse(answer({ action: 'accept', content }))).toEqual(
      answer({ action: 'accept', content: { ...content, name: 'Ann', likes: ['tea'] } }),
    )
    expect(Up.parse(answer({ action: 'decline' }))).toEqual(answer({ action: 'decline' }))
  })

  test.each([
    ['payload.action', { action: 'maybe' }],
    ['payload.id', { action: 'accept', id: '' }],
    ['payload.content.name', { action: 'accept', content: { name: { first: 'Ann' } } }],
    ['payload.content', { action: 'accept', content: 'Ann' }],
  ])('is refused by %s', (field, payload) => {
    expect(refusal(answer(payload))).toMatchObject({ code: 'invalid', field })
  })
})

test.each([{ type: 'shout' }, {}, { type: 5 }])('%j is refused by its type', (frame) => {
  expect(refusal(frame)).toMatchObject({
    code: 'invalid',
    field: 'type',
    message: 'frame: type: must be one of "message", "regenerate", "cancel", "answer", "ping"',
  })
})

test.each([null, 'message', [], 5])('%j is refused as a whole', (frame) => {
  expect(refusal(frame).code).toBe('invalid')
})

test('fields that are not known are left out', () => {
  expect(Up.parse({ type: 'ping', more: 1 })).toEqual({ type: 'ping' })
})

test('a cancel and a regenerate name messages by their ids', () => {
  expect(Up.parse({ type: 'cancel' })).toEqual({ type: 'cancel', payload: {} })
  const cancel = { type: 'cancel', payload: { messageId: 'm1' } }
  expect(Up.parse(cancel)).toEqual(cancel)
  const regenerate = { type: 'regenerate', payload: { messageId: 'm1', id: 'm2' } }
  expect(Up.parse(regenerate)).toEqual(regenerate)
  expect(refusal({ type: 'regenerate', payload: {} })).toMatchObject({ field: 'payload.messageId' })
  expect(refusal({ type: 'cancel', payload: { messageId: 'a b' } })).toMatchObject({
    field: 'payload.messageId',
  })
})

describe('who is to answer', () => {
  const named = (model: string) => ({ type: 'message', payload: { text: 'hi', model } })

  test.each(['xai', 'xai/grok-latest', 'work-2/meta/llama:70b'])('may be %s', (model) => {
    expect(Up.parse(named(model))).toEqual(named(model))
  })

  test.each(['', '/x', 'xai/', 'a b', 'xai/a b', 'gemini/../../x', 'xai/a?b=c'])(
    'may not be %j',
    (model) => {
      const message = 'frame: payload.model: must be "provider/model" or "provider"'
      expect(refusal(named(model))).toMatchObject({ field: 'payload.model', message })
    },
  )
})

import { describe, expect, test } from 'vitest'
import { BusError } from '../error.ts'
import { MAX_MESSAGE_LENGTH, Up } from './up.ts'

function cleanedText(text: string): string {
  const up = Up.parse({ type: 'message', payload: { text } })
  return up.type === 'message' ? up.payload.text : ''
}

function refuse(frame: unknown): BusError {
  const { error } = Up.safeParse(frame)
  if (error === undefined) throw new Error('was not refused')
  return BusError.fromZod(error, 'frame')
}

const refuseText = (text: unknown) => refuse({ type: 'message', payload: { text } })

describe('the text of a message', () => {
  test('the text of a message loses its control characters but keeps tabs and line breaks', () => {
    expect(cleanedText('a\u0000b\u001B[31m\u007F\u0085c\td\r\ne')).toBe('ab[31mc\td\r\ne')
  })

  test('lone surrogates in the text of a message are replaced, because they cannot be stored', () => {
    expect(cleanedText('a\uD800b\uDC00c')).toBe('a\uFFFDb\uFFFDc')
    expect(cleanedText('\uD83D\uDE00')).toBe('\u{1F600}')
  })

  test.each([
    ['is empty', ''],
    ['is white space', ' \n\t '],
    ['is empty once it is cleaned', '\u0000 \u0007'],
  ])('the text of a message is refused when it %s', (_, text) => {
    expect(refuseText(text)).toMatchObject({
      code: 'invalid',
      field: 'payload.text',
      message: 'frame: payload.text: must not be empty without attachments',
    })
  })

  test('a message may be files alone', () => {
    const payload = { text: '', attachments: [`${'s'.repeat(16)}.${'0'.repeat(36)}`] }
    expect(Up.parse({ type: 'message', payload })).toEqual({ type: 'message', payload })
    expect(refuse({ type: 'message', payload: { text: '', attachments: [] } })).toMatchObject({
      field: 'payload.text',
    })
  })

  test('the text of a message may be as long as the limit', () => {
    const longest = 'x'.repeat(MAX_MESSAGE_LENGTH)
    expect(cleanedText(longest)).toBe(longest)
    expect(refuseText(`${longest}x`)).toMatchObject({
      field: 'payload.text',
      message: `frame: payload.text: must not be longer than ${MAX_MESSAGE_LENGTH} characters`,
    })
  })

  test('the text of a message is refused when it is no string', () => {
    expect(refuseText(5)).toMatchObject({ code: 'invalid', field: 'payload.text' })
  })
})

describe("a client's message id", () => {
  const withId = (id: string) => ({ type: 'message', payload: { text: 'hi', id } })

  test('the message id of a client is passed on', () => {
    expect(Up.parse(withId('my-id_1'))).toEqual(withId('my-id_1'))
  })

  test.each(['', 'a b', 'a.b', 'é', 'x'.repeat(65)])('a message id cannot be %j', (id) => {
    expect(refuse(withId(id)).field).toBe('payload.id')
  })
})

describe('an answer', () => {
  const answer = (payload: object) => ({ type: 'answer', payload: { id: 'q1', ...payload } })

  test('an answer has values of every kind, and its strings are cleaned', () => {
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
  ])('an answer is refused by %s', (field, payload) => {
    expect(refuse(answer(payload))).toMatchObject({ code: 'invalid', field })
  })
})

test.each([{ type: 'shout' }, {}, { type: 5 }])('the frame %j is refused by its type', (frame) => {
  expect(refuse(frame)).toMatchObject({
    code: 'invalid',
    field: 'type',
    message:
      'frame: type: must be one of "message", "regenerate", "cancel", "cancel-call", "answer", "ping"',
  })
})

test.each([null, 'message', [], 5])('the frame %j is refused as a whole', (frame) => {
  expect(refuse(frame).code).toBe('invalid')
})

test('unknown fields of a frame are dropped', () => {
  expect(Up.parse({ type: 'ping', more: 1 })).toEqual({ type: 'ping' })
})

test('a cancel and a regenerate name messages by their ids', () => {
  expect(Up.parse({ type: 'cancel' })).toEqual({ type: 'cancel', payload: {} })
  const cancel = { type: 'cancel', payload: { messageId: 'm1' } }
  expect(Up.parse(cancel)).toEqual(cancel)
  const regenerate = { type: 'regenerate', payload: { messageId: 'm1', id: 'm2' } }
  expect(Up.parse(regenerate)).toEqual(regenerate)
  expect(refuse({ type: 'regenerate', payload: {} })).toMatchObject({ field: 'payload.messageId' })
  expect(refuse({ type: 'cancel', payload: { messageId: 'a b' } })).toMatchObject({
    field: 'payload.messageId',
  })
})

describe('the model of a message', () => {
  const named = (model: string) => ({ type: 'message', payload: { text: 'hi', model } })

  test.each(['xai', 'xai/grok-latest', 'work-2/meta/llama:70b'])(
    'the model of a message may be %s',
    (model) => {
      expect(Up.parse(named(model))).toEqual(named(model))
    },
  )

  test.each(['', '/x', 'xai/', 'a b', 'xai/a b', 'gemini/../../x', 'xai/a?b=c'])(
    'the model of a message cannot be %j',
    (model) => {
      const message = 'frame: payload.model: must be "provider/model" or "provider"'
      expect(refuse(named(model))).toMatchObject({ field: 'payload.model', message })
    },
  )
})

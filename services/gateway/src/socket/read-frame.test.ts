import { MAX_MESSAGE_LENGTH } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { checkFrame, frameId, parseFrame } from './read-frame.ts'

function read(frame: unknown): ReturnType<typeof checkFrame> {
  const text = typeof frame === 'string' ? frame : JSON.stringify(frame)
  return checkFrame(parseFrame(Buffer.from(text), false))
}

function message(text: unknown): unknown {
  return { type: 'message', payload: { text } }
}

test('a message is read without its unknown fields', () => {
  const payload = { text: 'Grüße 👋', id: 'm-1' }
  expect(read({ type: 'message', payload: { ...payload, mood: 'good' }, extra: 1 })).toEqual({
    type: 'message',
    payload,
  })
})

test('a ping is read', () => {
  expect(read({ type: 'ping' })).toEqual({ type: 'ping' })
})

test('control characters are removed from a text, white space is kept', () => {
  expect(read(message('a\u0000b\u001Bc\u007Fd\u0085e\n\tf'))).toMatchObject({
    payload: { text: 'abcde\n\tf' },
  })
})

test('a lone surrogate in a text is replaced', () => {
  expect(read('{"type":"message","payload":{"text":"a\\ud83d"}}')).toMatchObject({
    payload: { text: 'a\uFFFD' },
  })
})

test('a binary frame is refused', () => {
  const ping = Buffer.from('{"type":"ping"}')
  expect(() => parseFrame(ping, true)).toThrow('frames must be text, not binary')
})

test('a frame over 1 MB is refused with its size and the limit', () => {
  expect(() => read('x'.repeat(1024 * 1024 + 1))).toThrow('frame of 1048577 bytes; at most 1048576')
})

test('the size of a frame is counted in bytes', () => {
  expect(() => read('é'.repeat(600_000))).toThrow('1200000 bytes')
})

test('a frame that is nested too deep is refused with the limit', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  expect(() => read(`{"type":"ping","x":${deep}}`)).toThrow(
    'frame is nested more than 256 levels deep',
  )
})

test.each(['', 'hello', '{"type":', 'undefined'])(
  'the frame %j, which is not JSON, is refused with the format of frames',
  (frame) => {
    expect(() => read(frame)).toThrow('frame is not JSON; send {"type":"message"')
  },
)

test.each([
  ['null instead of an object', 'null', undefined],
  ['a list instead of an object', '[]', undefined],
  ['no type', {}, 'type'],
  ['an unknown type', { type: 'shout' }, 'type'],
  ['no payload', { type: 'message' }, 'payload'],
  ['a payload of the wrong type', { type: 'message', payload: 'hi' }, 'payload'],
  ['no text', { type: 'message', payload: {} }, 'payload.text'],
  ['a text of the wrong type', message(7), 'payload.text'],
  ['an empty text', message(''), 'payload.text'],
  ['a text of white space', message(' \n'), 'payload.text'],
  ['a text of control characters', message('\u0000\u0001'), 'payload.text'],
  ['a text that is too long', message('x'.repeat(MAX_MESSAGE_LENGTH + 1)), 'payload.text'],
  ['a wrong id', { type: 'message', payload: { text: 'a', id: 'a b' } }, 'payload.id'],
])('a frame with %s is refused with the field', (_, frame, field) => {
  expect(() => read(frame)).toThrow(
    expect.objectContaining({ code: 'invalid', field, message: expect.stringMatching(/^frame: /) }),
  )
})

test('a text of the maximum length is accepted', () => {
  expect(read(message('x'.repeat(MAX_MESSAGE_LENGTH)))).toMatchObject({ type: 'message' })
})

test.each([
  [{ type: 'message', payload: { id: 'm1', text: ' ' } }, 'm1'],
  [{ type: 'unknown', payload: { id: 'm1' } }, 'm1'],
  [{ type: 'cancel', payload: { id: 'other', messageId: 'm1' } }, 'm1'],
  [{ type: 'message', payload: { text: '' } }, undefined],
  [{ type: 'message', payload: { id: 'x'.repeat(65) } }, undefined],
  [{ type: 'message', payload: { id: 7 } }, undefined],
  // Zod compares its length with a number.
  [{ type: 'message', payload: { id: { length: { toString: 0, valueOf: 0 } } } }, undefined],
  [{ type: 'ping' }, undefined],
])('a refused frame %j is known by the id %j', (frame, id) => {
  expect(frameId(frame)).toBe(id)
})

test('a frame that cannot be parsed has no id', () => {
  expect(frameId(undefined)).toBeUndefined()
})

import { MAX_MESSAGE_LENGTH } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { readFrame } from './read-frame.ts'

function read(frame: unknown): ReturnType<typeof readFrame> {
  return readFrame(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)), false)
}

function message(text: unknown): unknown {
  return { type: 'message', payload: { text } }
}

test('a message is read, without fields nobody knows', () => {
  const payload = { text: 'Grüße 👋', id: 'm-1' }
  expect(read({ type: 'message', payload: { ...payload, mood: 'good' }, extra: 1 })).toEqual({
    type: 'message',
    payload,
  })
})

test('a ping is read', () => {
  expect(read({ type: 'ping' })).toEqual({ type: 'ping' })
})

test('control characters are removed, white space stays', () => {
  expect(read(message('a\u0000b\u001Bc\u007Fd\u0085e\n\tf'))).toMatchObject({
    payload: { text: 'abcde\n\tf' },
  })
})

test('half a surrogate pair is replaced', () => {
  expect(read('{"type":"message","payload":{"text":"a\\ud83d"}}')).toMatchObject({
    payload: { text: 'a\uFFFD' },
  })
})

test('a binary frame is refused', () => {
  const ping = Buffer.from('{"type":"ping"}')
  expect(() => readFrame(ping, true)).toThrow('frames must be text, not binary')
})

test('a frame over 1 MB is refused with both sizes, whatever is in it', () => {
  expect(() => read('x'.repeat(1024 * 1024 + 1))).toThrow('frame of 1048577 bytes; at most 1048576')
})

test('the size is counted in bytes', () => {
  expect(() => read('é'.repeat(600_000))).toThrow('1200000 bytes')
})

test('a frame that is nested too deep is refused with the limit', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  expect(() => read(`{"type":"ping","x":${deep}}`)).toThrow(
    'frame is nested more than 256 levels deep',
  )
})

test.each(['', 'hello', '{"type":', 'undefined'])(
  '%j is not JSON and told how a frame looks',
  (frame) => {
    expect(() => read(frame)).toThrow('frame is not JSON; send {"type":"message"')
  },
)

test.each([
  ['no object', 'null', undefined],
  ['a list', '[]', undefined],
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
])('%s is refused, naming the field', (_, frame, field) => {
  expect(() => read(frame)).toThrow(
    expect.objectContaining({ code: 'invalid', field, message: expect.stringMatching(/^frame: /) }),
  )
})

test('the longest text there may be is accepted', () => {
  expect(read(message('x'.repeat(MAX_MESSAGE_LENGTH)))).toMatchObject({ type: 'message' })
})

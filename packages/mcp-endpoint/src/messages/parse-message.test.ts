import { expect, test } from 'vitest'
import { parseMessage } from './parse-message.ts'

test('a message of too many values is refused before it is parsed', () => {
  const call = (text: string) =>
    Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${text}}}`)
  expect(() => parseMessage(call(`[${'{},'.repeat(300_000)}{}]`))).toThrow(
    'the message has more than 500000 values and names; send less at a time',
  )
  expect(parseMessage(call('[{}]'))).toMatchObject({ params: { a: [{}] } })
})

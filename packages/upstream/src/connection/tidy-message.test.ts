import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'

import { tidyMessage, withObjectResult } from './tidy-message.ts'

const message = (fields: object): JSONRPCMessage =>
  // Servers send messages that no type allows.
  ({ jsonrpc: '2.0', id: 1, ...fields }) as JSONRPCMessage
const INTERNAL = { code: -32_603 }
const EMPTY = { ...INTERNAL, message: 'the answer has neither a result nor an error' }
const NO_REASON = 'the server gave no reason'

test.each<[what: string, malformed: object, corrected: object]>([
  ['a string id', { id: '12', result: {} }, { id: 12, result: {} }],
  ['an error of null beside a result', { error: null, result: {} }, { result: {} }],
  ['neither result nor error', {}, { error: EMPTY }],
  ['an error of null alone', { error: null }, { error: EMPTY }],
  [
    'an error beside a result',
    { result: null, error: { code: -1, message: 'no' } },
    { error: { code: -1, message: 'no' } },
  ],
  [
    'an error without a code',
    { error: { message: 'no' } },
    { error: { ...INTERNAL, message: 'no' } },
  ],
  [
    'a numeric string as code',
    { error: { code: '-32602', message: 'no' } },
    { error: { code: -32_602, message: 'no' } },
  ],
  [
    'a word as code',
    { error: { code: 'E_NO', message: 'no' } },
    { error: { ...INTERNAL, message: 'no', data: { code: 'E_NO' } } },
  ],
  [
    'a fractional code',
    { error: { code: 1.5, message: 'no', data: 7 } },
    { error: { ...INTERNAL, message: 'no', data: 7 } },
  ],
  [
    'an error without a message',
    { error: { code: 3 } },
    { error: { code: 3, message: NO_REASON } },
  ],
  ['a string as error', { error: 'no' }, { error: { ...INTERNAL, message: 'no' } }],
  ['false as error', { error: false }, { error: { ...INTERNAL, message: NO_REASON } }],
])('an answer with %s is corrected', (_, malformed, corrected) => {
  const tidied = tidyMessage(message(malformed))
  expect(tidied).toEqual(message(corrected))
  JSONRPCMessageSchema.parse(tidied)
})

test.each([
  ['a result', { result: { a: 1 } }],
  ['a result with a string id', { id: 'one', result: {} }],
  ['a request', { method: 'ping' }],
])('%s that is well formed is unchanged', (_, fields) => {
  const given = message(fields)
  expect(tidyMessage(given)).toBe(given)
  expect(withObjectResult(given)).toBe(given)
})

test.each([5, null, 'a result of %j is an error, because a result must be an object'])(
  'a result of %j is an error, for an object is required',
  (result) => {
    expect(withObjectResult(message({ result }))).toEqual(
      message({ error: { ...INTERNAL, message: 'its result is not an object' } }),
    )
  },
)

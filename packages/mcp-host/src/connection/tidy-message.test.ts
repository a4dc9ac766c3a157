import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'

import { tidyMessage, withObjectResult } from './tidy-message.ts'

const message = (fields: object): JSONRPCMessage =>
  // Servers say what no type allows.
  ({ jsonrpc: '2.0', id: 1, ...fields }) as JSONRPCMessage
const INTERNAL = { code: -32_603 }
const NOTHING = { ...INTERNAL, message: 'the answer has neither a result nor an error' }
const UNSAID = 'the server gave no reason'

test.each<[what: string, careless: object, tidy: object]>([
  ['an id as a text', { id: '12', result: {} }, { id: 12, result: {} }],
  ['an error of null beside a result', { error: null, result: {} }, { result: {} }],
  ['neither result nor error', {}, { error: NOTHING }],
  ['an error of null alone', { error: null }, { error: NOTHING }],
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
    'a code as a text',
    { error: { code: '-32602', message: 'no' } },
    { error: { code: -32_602, message: 'no' } },
  ],
  [
    'a code in words',
    { error: { code: 'E_NO', message: 'no' } },
    { error: { ...INTERNAL, message: 'no', data: { code: 'E_NO' } } },
  ],
  [
    'half a code',
    { error: { code: 1.5, message: 'no', data: 7 } },
    { error: { ...INTERNAL, message: 'no', data: 7 } },
  ],
  ['an error without a message', { error: { code: 3 } }, { error: { code: 3, message: UNSAID } }],
  ['a text for an error', { error: 'no' }, { error: { ...INTERNAL, message: 'no' } }],
  ['an error that is none', { error: false }, { error: { ...INTERNAL, message: UNSAID } }],
])('an answer with %s is made one', (_, careless, tidy) => {
  const tidied = tidyMessage(message(careless))
  expect(tidied).toEqual(message(tidy))
  JSONRPCMessageSchema.parse(tidied)
})

test.each([
  ['a result', { result: { a: 1 } }],
  ['a result under a name', { id: 'one', result: {} }],
  ['a request', { method: 'ping' }],
])('%s that is in order stays the same', (_, fields) => {
  const given = message(fields)
  expect(tidyMessage(given)).toBe(given)
  expect(withObjectResult(given)).toBe(given)
})

test.each([5, null, 'text'])('a result of %j is an error, for an object is required', (result) => {
  expect(withObjectResult(message({ result }))).toEqual(
    message({ error: { ...INTERNAL, message: 'its result is not an object' } }),
  )
})

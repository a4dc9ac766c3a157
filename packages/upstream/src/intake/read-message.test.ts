import { describe, expect, test } from 'vitest'

import { readMessage } from './read-message.ts'

describe('a message', () => {
  test('a message that is no JSON becomes an error for its request', () => {
    expect(readMessage('{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}')).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32_700,
        message: expect.stringMatching(/^its answer is no JSON \(near .*NaN/),
      },
    })
  })

  test.each([
    '{"jsonrpc":"2.0","id":7,"method":"x","params":NaN}',
    '{"jsonrpc":"2.0","params":NaN}',
    'hello',
  ])('a message such as %j has no request to end', (text) => {
    expect(() => readMessage(text)).toThrow(SyntaxError)
  })
})

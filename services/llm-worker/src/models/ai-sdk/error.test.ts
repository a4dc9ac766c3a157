import { APICallError } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { ProviderError } from '../../provider-error.ts'
import { toBusError } from './error.ts'

function failure(
  statusCode: number,
  message: string,
  responseHeaders: Record<string, string> = {},
): APICallError {
  const url = 'http://provider'
  const responseBody = JSON.stringify({ error: { message } })
  const call = { message: 'no', url, requestBodyValues: {}, responseHeaders }
  return new APICallError({ ...call, statusCode, responseBody })
}

test.each([
  [400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
  [400, "This model's maximum context length is 8192 tokens. Reduce the length of the messages."],
  [400, 'prompt is too long: 210000 tokens > 200000 maximum'],
  [400, 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
  [400, 'Request too large'],
  [413, 'Payload Too Large'],
])('the error %i "%s" is a context overflow', (status, message) => {
  const error = toBusError('p', failure(status, message))
  expect(error).toMatchObject({ code: 'invalid', reason: 'context-overflow' })
})

test.each([
  [429, 'Too many tokens, please wait before trying again.', 'exhausted'],
  [400, 'Invalid value at tools[0]: the token is not known', 'invalid'],
])('the error %i "%s" is not a context overflow', (status, message, code) => {
  expect(toBusError('p', failure(status, message))).toMatchObject({ code, reason: undefined })
})

test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '7', 'retry-after-ms': '1500' }, 1_500],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
])('the headers %j ask for a retry after %s ms', (headers, expected) => {
  const error = toBusError('p', failure(429, 'slow down', headers))
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).toMatchObject({ retryAfterMs: expected })
})

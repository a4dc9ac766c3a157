import { APICallError } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { ProviderError } from '../../provider-error.ts'
import { isUnexplained, toBusError } from './error.ts'

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

test.each<[string, number, object, Record<string, string>, string]>([
  ['no credit', 402, { error: { code: 402, message: 'Insufficient credits' } }, {}, 'denied'],
  [
    'a full budget for a while',
    402,
    { error: { code: 402, message: 'wait' } },
    { 'retry-after': '2' },
    'exhausted',
  ],
  [
    'no quota',
    429,
    { error: { code: 'insufficient_quota', message: 'You exceeded it' } },
    {},
    'denied',
  ],
  [
    'an exhausted balance',
    429,
    { error: { code: 'credit_balance_exhausted', message: 'Add credits' } },
    {},
    'denied',
  ],
  [
    'a spent budget',
    429,
    { error: { code: 'project_spend_limit_exceeded', message: 'Raise it' } },
    {},
    'denied',
  ],
  ['moderation', 403, { error: { code: 403, message: 'your input was flagged' } }, {}, 'denied'],
  [
    'a failed model of TGI',
    424,
    { error: 'Request failed', error_type: 'generation' },
    {},
    'unavailable',
  ],
  [
    'a limit of Gemini',
    429,
    {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota',
      },
    },
    {},
    'exhausted',
  ],
  [
    'a broken call',
    400,
    { error: { code: 'tool_use_failed', message: 'Failed to call a function.' } },
    {},
    'unavailable',
  ],
  [
    'an overflow at llama.cpp',
    500,
    { error: { code: 500, message: 'Context size has been exceeded.' } },
    {},
    'invalid',
  ],
  [
    'an overflow in a list of faults',
    422,
    { detail: [{ msg: 'inputs must have less than 100 tokens' }] },
    {},
    'invalid',
  ],
  [
    'a provider behind a gateway',
    400,
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"prompt is too long"}}' },
      },
    },
    {},
    'invalid',
  ],
])('%s with status %i is told by its code', (_, statusCode, body, responseHeaders, code) => {
  const call = { message: 'no', url: 'http://provider', requestBodyValues: {}, responseHeaders }
  const responseBody = JSON.stringify(body)
  const isRetryable = statusCode === 429 || statusCode >= 500
  const error = toBusError(
    'p',
    new APICallError({ ...call, statusCode, responseBody, isRetryable }),
  )
  expect(error.code).toBe(code)
  expect(error.reason).toBe(code === 'invalid' ? 'context-overflow' : undefined)
})

test.each([
  ['{"error":{"message":"Bad Request"}}', 400, true],
  ['{"error":{"message":"Provider returned error"}}', 400, true],
  ['', 422, true],
  ['{"error":{"message":"no such field"}}', 400, false],
  ['{"error":{"message":"Bad Request"}}', 401, false],
])(
  'whether the refusal %s with %i is without a reason: %s',
  (responseBody, statusCode, expected) => {
    const call = { message: 'no', url: 'http://provider', requestBodyValues: {} }
    expect(isUnexplained(new APICallError({ ...call, statusCode, responseBody }))).toBe(expected)
  },
)

test.each([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ENOTFOUND', 'the name of its host is not known'],
  ['EHOSTUNREACH', 'there is no way to its host'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it does not answer in time'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is not trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is not trusted'],
  [
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'it does not speak TLS as asked; http:// and https:// may be mixed up',
  ],
  ['ECONNRESET', 'the connection broke'],
])('a provider that is not reached for %s is told so', (code, reason) => {
  const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })
  const call = { message: 'no', url: 'http://provider', requestBodyValues: {}, cause }
  expect(toBusError('p', new APICallError(call)).message).toBe(
    `p cannot be reached: ${reason} (${code}); its address is http://provider`,
  )
})

test.each([
  [{ error: { message: 'The model `x` does not exist', code: 'model_not_found' } }, true],
  [{ type: 'error', error: { type: 'not_found_error', message: 'model: x' } }, true],
  [{ error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } }, true],
  [{ error: { message: 'No endpoints found for x.' } }, true],
  [{ detail: 'Not Found' }, false],
  [{ error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }, false],
])('whether the 404 %j is about a model: %s', (body, isAboutModel) => {
  const url = 'http://user:secret@provider/chat/completions?key=secret'
  const call = { message: 'no', url, requestBodyValues: {}, statusCode: 404 }
  const { message } = toBusError(
    'p',
    new APICallError({ ...call, responseBody: JSON.stringify(body) }),
  )
  expect(message.includes('it has no such model')).toBe(isAboutModel)
  expect(message.includes('nothing is at http://provider/chat/completions')).toBe(!isAboutModel)
  expect(message).not.toContain('secret')
})

test('errors name the settings of the key and of the address, and the host, without secrets', () => {
  const settings = { keySetting: 'P_API_KEY', addressSetting: 'P_BASE_URL' }
  const url = 'http://user:secret@provider:9/v1/chat/completions?key=secret'
  const told = (statusCode: number | undefined, apiKey: string): string => {
    const call = { message: 'no', url, requestBodyValues: {}, responseBody: '{}' }
    const error = new APICallError({ ...call, ...(statusCode === undefined ? {} : { statusCode }) })
    return toBusError('p', error, { ...settings, apiKey }).message
  }
  expect([told(401, 'secret'), told(401, ''), told(404, ''), told(undefined, '')]).toEqual([
    'p answered 401: it does not accept the API key; check P_API_KEY',
    'p answered 401: it wants an API key; check P_API_KEY',
    'p answered 404: nothing is at http://provider:9/v1/chat/completions; check P_BASE_URL, which mostly ends with /v1',
    'p cannot be reached; its address is http://provider:9 (P_BASE_URL)',
  ])
})

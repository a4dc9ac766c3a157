import { expect, test } from 'vitest'
import { APICallError } from '@ai-sdk/provider'
import { failureIn, readFailure, wordsOf } from './provider-failure.ts'

function words(responseBody: string, apiKey = ''): string | undefined {
  const call = { message: 'no', url: 'http://provider', requestBodyValues: {} }
  const failure = readFailure(new APICallError({ ...call, statusCode: 400, responseBody }))
  return failure && wordsOf(failure, apiKey)
}

test.each([
  ['{"error":{"message":"Your credit balance is too low."}}', 'Your credit balance is too low.'],
  [
    '{"type":"error","error":{"type":"x","message":"max_tokens: too large"}}',
    'max_tokens: too large',
  ],
  [
    '{"error":"model \\"x\\" not found, try pulling it first"}',
    'model "x" not found, try pulling it first',
  ],
  ['[{"error":{"code":400,"message":"Unknown name"}}]', 'Unknown name'],
  ['{"detail":"no\\n  such\\tthing"}', 'no such thing'],
  ['upstream is away', 'upstream is away'],
  ['<html>502</html>', 'a web page'],
  ['\n<!doctype html><title>502 Bad Gateway</title>', 'a web page, 502 Bad Gateway'],
  ['{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}', 'Field required'],
  ['{"type":"response.failed","response":{"error":{"code":"x","message":"no"}}}', 'no'],
  [
    '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"too long\\"}}"}}}',
    'Provider returned error: too long',
  ],
])('the message of the body %s is shown', (body, message) => {
  expect(words(body)).toBe(message)
})

test.each(['', '{}', '[]', '{"error":{"code":1}}', '7', 'x'.repeat(100_000)])(
  'the body %j without a message is not shown',
  (body) => {
    expect(words(body)).toBeUndefined()
  },
)

test('a key in a message is masked before the message is cut', () => {
  expect(words('wrong key hunter2!', 'hunter2')).toBe('wrong key [secret]!')
  expect(words('wrong: sk-proj-abc123****xyz, AIzaSyA1234567')).toBe('wrong: [secret], [secret]')
  const cut = words(`${'x'.repeat(290)} my-own-key`, 'my-own-key')
  expect(cut).toBe(`${'x'.repeat(290)} [secret]`.slice(0, 300))
})

test.each<[string, object]>([
  ['of OpenAI, Claude, Gemini and copies of OpenAI', { error: { message: 'no', code: 500 } }],
  ['of a local server, as text', { error: 'no' }],
  ['of the Responses API', { type: 'error', code: 'server_error', message: 'no' }],
  ['of a response', { type: 'response.failed', response: { error: { message: 'no' } } }],
  ['of older vLLM', { object: 'error', message: 'no', code: 400 }],
])('an event with the error %s is a failure', (_, event) => {
  expect(failureIn(event)).toBeDefined()
})

test.each<[string, unknown]>([
  ['a piece of an answer', { choices: [{ delta: { content: 'x' } }], error: null }],
  ['a piece of Claude', { type: 'content_block_delta', delta: {} }],
  ['a response', { type: 'response.created', response: { error: null } }],
  ['no object', 'error'],
  ['nothing', undefined],
])('%s is no failure', (_, event) => {
  expect(failureIn(event)).toBeUndefined()
})

test('an error in many others is read to a limit', () => {
  const nested = `${'{"error":'.repeat(5_000)}"no"${'}'.repeat(5_000)}`
  expect(words(nested)).toBeUndefined()
})

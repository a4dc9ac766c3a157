import { BusError } from '@mcp-host/contracts'
import {
  ConfigurationError,
  ProtocolError,
  ServerUnavailableError,
  TimeoutError,
  ValidationError,
} from 'mcp-host'
import { expect, test } from 'vitest'
import { fromError, fromResult, MAX_RESULT_BYTES } from './call-result.ts'

const content = [{ type: 'text' as const, text: 'sunny' }]

test('a result is kept as it came', () => {
  expect(fromResult({ content, structuredContent: { degrees: 20 } })).toEqual({
    outcome: 'ok',
    content,
    structuredContent: { degrees: 20 },
  })
})

test("a tool's own error is an outcome, not a failure of the host", () => {
  expect(fromResult({ content, isError: true })).toEqual({ outcome: 'error', content })
})

test('a result of the largest size is kept, one byte more is a clear error', () => {
  const empty = JSON.stringify({ outcome: 'ok', content: [{ type: 'text', text: '' }] })
  const sized = (bytes: number): ReturnType<typeof fromResult> =>
    fromResult({ content: [{ type: 'text', text: 'x'.repeat(bytes - empty.length) }] })
  expect(sized(MAX_RESULT_BYTES)).toMatchObject({ outcome: 'ok' })
  expect(sized(MAX_RESULT_BYTES + 1)).toEqual({
    outcome: 'error',
    content: [],
    error: { code: 'exhausted', message: expect.stringContaining('524289 bytes') },
  })
})

test('the size is counted in bytes, structured content with it', () => {
  const structuredContent = { text: 'é'.repeat(MAX_RESULT_BYTES / 2) }
  expect(fromResult({ content: [], structuredContent })).toMatchObject({
    error: { code: 'exhausted' },
  })
})

test.each([
  [new ValidationError('text must be a string', [], {}), 'invalid'],
  [new TimeoutError('it took too long', 5, {}), 'deadline'],
  [new ServerUnavailableError('it is not running'), 'unavailable'],
  [new ProtocolError('it answered nonsense', undefined, {}), 'internal'],
  [new ConfigurationError([]), 'internal'],
  [new BusError('cancelled', 'the call was cancelled'), 'cancelled'],
])('%s is told to the model as it is', (error, code) => {
  expect(fromError(error)).toEqual({
    outcome: 'error',
    content: [],
    error: { code, message: error.message },
  })
})

test('a fault of ours is told without its details', () => {
  expect(fromError(new TypeError('secret of undefined')).error).toEqual({
    code: 'internal',
    message: 'internal error',
  })
})

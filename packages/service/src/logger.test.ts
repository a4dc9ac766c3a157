import { childEnvelope, newEnvelope, traceId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { escapeControls, requestFields, shortenError } from './logger.ts'

test.each([
  '\u009b2J',
  '\u0085',
  '\u007f',
  '\u202eevil',
  '\u2066a\u2069',
  '\u2028',
  '\u001b[2J',
  '\u0000',
  'größe 検索 👍',
])('control characters in the log line of %j are escaped', (text) => {
  const line = escapeControls(`${JSON.stringify({ text })}\n`)
  expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\u202A-\u202E\u2066-\u2069]/u)
  expect(JSON.parse(line)).toEqual({ text })
})

test('a log line names its request, its parent request and its trace', () => {
  const parent = newEnvelope('local')
  const child = childEnvelope(parent)
  expect(requestFields(parent)).toEqual({
    requestId: parent.requestId,
    traceId: traceId(parent),
    correlationId: traceId(parent),
  })
  expect(requestFields(child)).toEqual({
    requestId: child.requestId,
    parentRequestId: parent.requestId,
    traceId: traceId(parent),
    correlationId: traceId(parent),
  })
})

test('long strings of an error are cut in the log', () => {
  const error = { type: 'Error', message: 'x'.repeat(5_000_000), stack: 'at main', code: 5 }
  const message = `${'x'.repeat(8_000)}…`
  expect(shortenError(error)).toEqual({ ...error, message })
  expect(shortenError('no error')).toBe('no error')
})

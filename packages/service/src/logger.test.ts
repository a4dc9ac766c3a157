import { childEnvelope, newEnvelope, traceId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { requestFields } from './logger.ts'

test('a log line names its request, the request that caused it and the trace', () => {
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

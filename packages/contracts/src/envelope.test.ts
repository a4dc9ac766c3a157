import { expect, test } from 'vitest'
import { childEnvelope, Envelope, newEnvelope, traceId } from './envelope.ts'

test('a new envelope is valid, begins a trace of its own and has no deadline', () => {
  const [one, other] = [newEnvelope('local'), newEnvelope('local')]
  expect(Envelope.parse(one)).toEqual(one)
  expect(one).toMatchObject({ principal: 'local' })
  expect(one.deadline).toBeUndefined()
  expect(traceId(one)).toMatch(/^[0-9a-f]{32}$/)
  expect(traceId(one)).not.toBe(traceId(other))
  expect(one.requestId).not.toBe(other.requestId)
})

test('a child belongs to the trace and the principal of its parent, as a request of its own', () => {
  const parent = newEnvelope('ann')
  const child = childEnvelope(parent)
  expect(Envelope.parse(child)).toEqual(child)
  expect(traceId(child)).toBe(traceId(parent))
  expect(child).toMatchObject({ principal: 'ann', parentRequestId: parent.requestId })
  expect(child.requestId).not.toBe(parent.requestId)
  expect(child.traceparent).not.toBe(parent.traceparent)
})

test('a child has the deadline it is given, and does not inherit one', () => {
  const parent = childEnvelope(newEnvelope('local'), 1_000)
  expect(parent.deadline).toBe(1_000)
  expect(childEnvelope(parent).deadline).toBeUndefined()
})

test('a trace context that is not one is refused', () => {
  const wrong = { ...newEnvelope('local'), traceparent: '00-12-34-01' }
  expect(Envelope.safeParse(wrong).success).toBe(false)
})

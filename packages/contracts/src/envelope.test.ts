import { expect, test } from 'vitest'
import { childEnvelope, Envelope, newEnvelope, traceId } from './envelope.ts'

test('a root envelope is valid, begins its own trace and does not expire', () => {
  const [one, other] = [newEnvelope('local'), newEnvelope('local')]
  expect(Envelope.parse(one)).toEqual(one)
  expect(one).toMatchObject({ principal: 'local' })
  expect(one.expiresAt).toBeUndefined()
  expect(traceId(one)).toMatch(/^[0-9a-f]{32}$/)
  expect(traceId(one)).not.toBe(traceId(other))
  expect(one.requestId).not.toBe(other.requestId)
})

test('a child envelope has the trace and the principal of its parent, and its own request id', () => {
  const parent = newEnvelope('ann')
  const child = childEnvelope(parent)
  expect(Envelope.parse(child)).toEqual(child)
  expect(traceId(child)).toBe(traceId(parent))
  expect(child).toMatchObject({ principal: 'ann', parentRequestId: parent.requestId })
  expect(child.requestId).not.toBe(parent.requestId)
  expect(child.traceparent).not.toBe(parent.traceparent)
})

test('a child envelope does not inherit the expiry of its parent', () => {
  const parent = { ...newEnvelope('local'), expiresAt: 1_000, deadline: 1_000 }
  expect(childEnvelope(parent)).not.toHaveProperty('expiresAt')
  expect(childEnvelope(parent)).not.toHaveProperty('deadline')
})

test('an invalid trace context is refused', () => {
  const invalid = { ...newEnvelope('local'), traceparent: '00-12-34-01' }
  expect(Envelope.safeParse(invalid).success).toBe(false)
})

test('the entrance of a request goes with everything that it causes', () => {
  const parent = newEnvelope({ id: 'ann', roles: ['user'], scopes: ['mcp'], entrance: 'rest' })
  const rights = { roles: ['user'], scopes: ['mcp'], entrance: 'rest' }
  expect(childEnvelope(parent)).toMatchObject(rights)
})

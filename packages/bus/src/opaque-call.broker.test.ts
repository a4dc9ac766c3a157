import type { McpReplyHead } from '@mcp-host/contracts'
import { BusError, newEnvelope, mcpRequest } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import type { Frame } from './frame.ts'
import { decodeFrame, encodeFrame, withEnvelope } from './frame.ts'

let broker: Broker
let caller: Bus
let responder: Bus
beforeAll(async () => {
  broker = await startBroker()
  caller = await broker.connect('caller')
  responder = await broker.connect('responder')
})
afterAll(() => broker[Symbol.asyncDispose]())

const text = new TextDecoder()
const head = { method: 'tools/call', id: 'a', era: 'legacy' } as const
const result = { type: 'result' } as const

const pass = async (
  server: string,
  body: string | Uint8Array,
  parts: unknown[] = [],
  envelope = newEnvelope('ann'),
) => {
  // The broker must know the subscription before the request arrives.
  await responder.ping()
  return new Promise<Frame<McpReplyHead>>((resolve, reject) => {
    const options = { envelope, timeoutMs: 1_000 }
    caller.callOpaque(mcpRequest, { server }, { head, body }, options, {
      onAnswer(answer) {
        parts.push([answer.head, text.decode(answer.body)])
        const hasMore = answer.head.type === 'notice' || answer.head.type === 'running'
        if (!hasMore) resolve(answer)
        return hasMore
      },
      onFailure: reject,
      onWaiting: () => void waits++,
    })
  })
}
let waits = 0

test.each([
  ['json', '{"a":"ä\\n"}'],
  ['invalid', ' {"not":\n"looked into"'],
  ['empty', ''],
  ['newlines', '\n\n'],
])('a body is passed unchanged in both directions: %s', async (server, body) => {
  using _served = responder.serveOpaque(mcpRequest, { server }, async (request) => ({
    head: result,
    body: request.body,
  }))
  for (const each of [body, new TextEncoder().encode(body)]) {
    const answer = await pass(server, each)
    expect([answer.head, text.decode(answer.body)]).toEqual([result, body])
  }
})

test('the envelope and the head are passed on, and parts arrive in order before the answer', async () => {
  let seen: unknown
  using _served = responder.serveOpaque(mcpRequest, { server: 'b' }, async (request, send) => {
    seen = { principal: request.envelope.principal, head: request.head }
    send({ type: 'notice', method: 'm' }, '1')
    send({ type: 'running' }, '')
    return { head: { type: 'error' as const }, body: '{}' }
  })
  const parts: unknown[] = []
  await pass('b', '{}', parts)
  expect(seen).toEqual({ principal: 'ann', head })
  expect(parts).toEqual([
    [{ type: 'notice', method: 'm' }, '1'],
    [{ type: 'running' }, ''],
    [{ type: 'error' }, '{}'],
  ])
})

test('a heartbeat extends the time limit of a call', async () => {
  using _served = responder.serveOpaque(mcpRequest, { server: 'slow' }, async (_, send) => {
    const timer = setInterval(() => send({ type: 'running' }, ''), 300)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    clearInterval(timer)
    return { head: result, body: '{}' }
  })
  expect((await pass('slow', '{}')).head).toEqual(result)
})

test('a call without a server is unavailable, and a call without an answer exceeds its deadline', async () => {
  await expect(pass('nobody', '{}')).rejects.toMatchObject({ code: 'unavailable' })
  const never = new Promise<never>(() => undefined)
  using _served = responder.serveOpaque(mcpRequest, { server: 'mute' }, () => never)
  await expect(pass('mute', '{}')).rejects.toMatchObject({ code: 'deadline' })
})

test('a call that arrives after its time is unavailable, and its handler does not run', async () => {
  let runs = 0
  using _served = responder.serveOpaque(mcpRequest, { server: 'late' }, async () => {
    runs++
    return { head: result, body: '{}' }
  })
  const late = { ...newEnvelope('ann'), expiresAt: caller.clock.now() - 1 }
  await expect(pass('late', '{}', [], late)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('was not begun'),
  })
  expect(runs).toBe(0)
})

test('an error of the handler is the answer', async () => {
  using _served = responder.serveOpaque(mcpRequest, { server: 'bad' }, async () => {
    throw new BusError('conflict', 'it moves')
  })
  await expect(pass('bad', '{}')).rejects.toMatchObject({ code: 'conflict', message: 'it moves' })
})

test('a message that is no frame, or has another schema, is refused', () => {
  const schema = withEnvelope(mcpRequest.request)
  for (const data of ['', 'no line', '{', '[]\n{}', encodeFrame([newEnvelope('a'), {}], '')]) {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    expect(() => decodeFrame(schema, bytes, 'it')).toThrow(/it/)
  }
})

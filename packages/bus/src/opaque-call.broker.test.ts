import type { McpReplyHead } from '@mcp-host/contracts'
import { BusError, newEnvelope, mcpRequest } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Bus } from './bus.ts'
import type { Frame } from './frame.ts'
import { decodeFrame, encodeFrame, withEnvelope } from './frame.ts'

let broker: Broker
let asking: Bus
let answering: Bus
beforeAll(async () => {
  broker = await startBroker()
  asking = await broker.connect('asking')
  answering = await broker.connect('answering')
})
afterAll(() => broker[Symbol.asyncDispose]())

const text = new TextDecoder()
const head = { method: 'tools/call', id: 'a', era: 'legacy' } as const
const result = { type: 'result' } as const

const pass = async (server: string, body: string | Uint8Array, parts: unknown[] = []) => {
  // Else the question could be there before the broker knows who answers.
  await answering.ping()
  return new Promise<Frame<McpReplyHead>>((resolve, reject) => {
    const options = { envelope: newEnvelope('ann'), timeoutMs: 1_000 }
    asking.callOpaque(mcpRequest, { server }, { head, body }, options, {
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
  ['else', ' {"not":\n"looked into"'],
  ['nothing', ''],
  ['lines', '\n\n'],
])('the body goes through as it is, there and back: %s', async (server, body) => {
  using _served = answering.serveOpaque(mcpRequest, { server }, async (question) => ({
    head: result,
    body: question.body,
  }))
  for (const each of [body, new TextEncoder().encode(body)]) {
    const answer = await pass(server, each)
    expect([answer.head, text.decode(answer.body)]).toEqual([result, body])
  }
})

test('the envelope and the head come along, and parts before the last are told in order', async () => {
  let seen: unknown
  using _served = answering.serveOpaque(mcpRequest, { server: 'b' }, async (question, tell) => {
    seen = { principal: question.envelope.principal, head: question.head }
    tell({ type: 'notice', method: 'm' }, '1')
    tell({ type: 'running' }, '')
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

test('a sign of life is waited on from then', async () => {
  using _served = answering.serveOpaque(mcpRequest, { server: 'slow' }, async (_, tell) => {
    const timer = setInterval(() => tell({ type: 'running' }, ''), 300)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    clearInterval(timer)
    return { head: result, body: '{}' }
  })
  expect((await pass('slow', '{}')).head).toEqual(result)
})

test('who answers nothing, or is not there, is an error that tells them apart', async () => {
  await expect(pass('nobody', '{}')).rejects.toMatchObject({ code: 'unavailable' })
  const never = new Promise<never>(() => undefined)
  using _served = answering.serveOpaque(mcpRequest, { server: 'mute' }, () => never)
  await expect(pass('mute', '{}')).rejects.toMatchObject({ code: 'deadline' })
})

test('what the handler throws is the answer', async () => {
  using _served = answering.serveOpaque(mcpRequest, { server: 'bad' }, async () => {
    throw new BusError('conflict', 'it moves')
  })
  await expect(pass('bad', '{}')).rejects.toMatchObject({ code: 'conflict', message: 'it moves' })
})

test('a message that is no frame, or of another kind, is refused', () => {
  const schema = withEnvelope(mcpRequest.request)
  for (const data of ['', 'no line', '{', '[]\n{}', encodeFrame([newEnvelope('a'), {}], '')]) {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    expect(() => decodeFrame(schema, bytes, 'it')).toThrow(/it/)
  }
})

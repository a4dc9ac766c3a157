// Two sockets of one session on gateways of their own, over a real broker.
import type { AuditRecord } from '@mcp-host/audit'
import type { Bus, ReadOptions } from '@mcp-host/bus'
import type { Down, LogFact, SessionId, ToolCallId } from '@mcp-host/contracts'
import { generationId, newEnvelope, newSessionId, toolCallId, LOCAL } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { Connection } from '../../connection/connection.ts'
import type { SocketDeps } from '../../connection/socket-deps.ts'
import { GatewayAudit } from '../../gateway-audit.ts'
import { takeAnswer } from './take-answer.ts'

let broker: Broker
let buses: Bus[]
beforeAll(async () => {
  broker = await startBroker()
  buses = [await broker.connect(), await broker.connect()]
})
afterAll(() => broker[Symbol.asyncDispose]())

const requestedSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name'],
}

let session: SessionId
let call: ToolCallId
let tabs: ReturnType<typeof openTab>[]
let count: number
let turnSeq: number
beforeEach(async () => {
  session = newSessionId()
  count = 0
  const generation = generationId(session, 0)
  call = toolCallId(generation, 0)
  turnSeq = await append({ kind: 'input', fact: { id: 'm1', text: 'hi' } })
  const base = { turn: turnSeq, seen: turnSeq, messageId: 'm1', orchestrator: 'o', epoch: 1 }
  await append({ kind: 'turn', fact: { type: 'turn-claimed', ...base, generation } })
  const block = { type: 'tool-call' as const, id: call, name: 'ask', arguments: {} }
  await append({
    kind: 'generation',
    fact: { generation, outcome: 'completed', content: [block], provider: 'p', model: 'm' },
  })
  await append({
    kind: 'tool',
    fact: {
      type: 'input-required',
      call,
      attempt: 1,
      server: 'test',
      tool: 'ask',
      id: 'q1',
      kind: 'elicitation',
      mode: 'form',
      message: 'who?',
      requestedSchema,
      expiresAt: 0,
    },
  })
  tabs = buses.map((bus) => openTab(bus))
})

async function append(fact: LogFact): Promise<number> {
  const options = { envelope: newEnvelope('local'), messageId: `m${count++}` }
  const { seq } = await (buses[0] as Bus).sessions.append(session, fact, options)
  return seq
}

function openTab(bus: Bus, principal = LOCAL) {
  const frames: Down[] = []
  // Only what answering uses.
  const socket = {
    bufferedAmount: 0,
    send: (frame: string) => void frames.push(JSON.parse(frame) as Down),
  } as unknown as WebSocket
  const connection = new Connection(socket, {
    sessionId: session,
    userAgent: '',
    principal,
    lastEventId: '',
    isReconnect: false,
  })
  const logger = { info: () => undefined, warn: () => undefined } as unknown as Logger
  const records: AuditRecord[] = []
  const audit = new GatewayAudit({ record: (each) => void records.push(each) })
  // takeAnswer uses only these.
  const deps = { bus, logger, audit } as unknown as SocketDeps
  const answer = async (
    action: 'accept' | 'decline' | 'cancel',
    content?: Record<string, string | number>,
    id = 'q1',
  ): Promise<Down | undefined> => {
    const given = content === undefined ? {} : { content }
    await takeAnswer(deps, connection, { type: 'answer', payload: { id, action, ...given } })
    return frames.at(-1)
  }
  return { records, answer }
}

const stored = async (): Promise<unknown[]> =>
  (await (buses[0] as Bus).sessions.read(session, 0))
    .filter(({ kind }) => kind === 'control')
    .map(({ fact }) => fact)

const accepted = { type: 'accepted', payload: { messageId: 'q1', duplicate: false } }
const closed = (reason: string) => ({
  type: 'error',
  payload: {
    code: 'not-found',
    message: expect.stringContaining(reason),
    field: 'payload.id',
    retryable: false,
    messageId: expect.any(String),
    sessionId: session,
  },
})

test('an answer is accepted once it is in the log', async () => {
  expect(await tabs[0]?.answer('accept', { name: 'Ann', age: 7 })).toEqual(accepted)
  const content = { name: 'Ann', age: 7 }
  expect(await stored()).toEqual([{ type: 'input-answered', id: 'q1', action: 'accept', content }])
})

test('a declined elicitation needs no content, and given content is not stored', async () => {
  expect(await tabs[0]?.answer('decline', { name: 'Ann' })).toEqual(accepted)
  expect(await stored()).toEqual([{ type: 'input-answered', id: 'q1', action: 'decline' }])
})

test('an invalid answer is refused with all its faults, and the elicitation stays open', async () => {
  expect(await tabs[0]?.answer('accept', { age: 'old' })).toEqual({
    type: 'error',
    payload: {
      code: 'invalid',
      message: 'answer: name is needed; age must be a number',
      field: 'payload.content.name',
      retryable: false,
      messageId: 'q1',
      sessionId: session,
    },
  })
  expect(await stored()).toEqual([])
  expect(await tabs[1]?.answer('accept', { name: 'Ann' })).toEqual(accepted)
})

test('an approval needs no content', async () => {
  const base = { turn: turnSeq, seen: turnSeq }
  const about = { call, server: 'test', tool: 'ask', message: 'may it?', arguments: {} }
  await append({
    kind: 'turn',
    fact: { type: 'approval-required', ...base, ...about, id: 'a1', expiresAt: 0 },
  })
  const frame = await tabs[0]?.answer('accept', { name: 'Ann' }, 'a1')
  expect(frame).toEqual({ type: 'accepted', payload: { messageId: 'a1', duplicate: false } })
  expect(await stored()).toEqual([{ type: 'input-answered', id: 'a1', action: 'accept' }])
  expect(tabs[0]?.records).toMatchObject([
    { action: 'approval-answered', principal: 'local', tool: 'ask', outcome: 'allowed' },
  ])
  expect(await tabs[1]?.answer('decline', undefined, 'a1')).toEqual(closed('answered already'))
  expect(tabs[1]?.records).toEqual([])
})

test('a tool call is approved and refused by principals with the scope for that alone', async () => {
  const base = { turn: turnSeq, seen: turnSeq }
  const about = { call, server: 'test', tool: 'ask', message: 'may it?', arguments: {} }
  await append({
    kind: 'turn',
    fact: { type: 'approval-required', ...base, ...about, id: 'a1', expiresAt: 0 },
  })
  const program = openTab(buses[0] as Bus, { ...LOCAL, scopes: ['mcp', 'chat'] })
  for (const action of ['accept', 'decline'] as const) {
    expect(await program.answer(action, undefined, 'a1')).toMatchObject({
      type: 'error',
      payload: { code: 'denied', message: 'this needs the scope decide' },
    })
  }
  expect(await stored()).toEqual([])
  expect(program.records).toEqual([])
  // It may answer the questions of tools.
  expect(await program.answer('accept', { name: 'Ann' })).toEqual(accepted)
})

test('one of two concurrent answers is accepted', async () => {
  const frames = await Promise.all(
    tabs.map((tab, index) => tab.answer('accept', { name: `${index}` })),
  )
  expect(new Set(frames.map((frame) => frame?.type))).toEqual(new Set(['accepted', 'error']))
  const winner = frames.findIndex((frame) => frame?.type === 'accepted')
  expect(frames[1 - winner]).toEqual(closed('answered already'))
  expect((await stored())[0]).toMatchObject({ content: { name: `${winner}` } })
})

test('an answer to an answered elicitation is refused', async () => {
  await tabs[0]?.answer('accept', { name: 'Ann' })
  expect(await tabs[1]?.answer('decline')).toEqual(closed('answered already'))
  expect(await stored()).toHaveLength(1)
})

test('an answer to an expired elicitation is refused', async () => {
  await append({ kind: 'tool', fact: { type: 'input-closed', call, id: 'q1', reason: 'expired' } })
  expect(await tabs[0]?.answer('decline')).toEqual(closed('not answered in time'))
})

test('an answer to an unknown elicitation is refused', async () => {
  expect(await tabs[0]?.answer('decline', undefined, 'q9')).toEqual(closed('no question "q9"'))
})

test('an answer is accepted although the broker lags behind', async () => {
  const bus = buses[0] as Bus
  const { sessions: real } = bus
  const sessions = {
    end: () => real.end(session),
    append: (...given: Parameters<Bus['sessions']['append']>) => real.append(...given),
    // What is not asked of the leader is not there yet.
    read: async (_: SessionId, after: number, options: ReadOptions = {}) =>
      options.through === undefined ? [] : real.read(session, after, options),
  }
  // takeAnswer uses only the sessions of the bus.
  const frame = await openTab({ sessions } as unknown as Bus).answer('decline')
  expect(frame).toMatchObject({ type: 'accepted' })
  expect(await stored()).toHaveLength(1)
})

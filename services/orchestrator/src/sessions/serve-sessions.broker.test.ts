import type { Bus } from '@mcp-host/bus'
import type {
  CallContract,
  LogFact,
  SessionId,
  SessionRecord,
  ToolCallId,
} from '@mcp-host/contracts'
import {
  deleteSession,
  generationId,
  getSession,
  listSessions,
  newEnvelope,
  newSessionId,
  ServerName,
  sessionHistory,
  toolCallId,
  updateSession,
} from '@mcp-host/contracts'
import { toSnapshot } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openState } from '../turn/open-state.ts'
import { SessionViews } from '../turn/session-views.ts'
import { eraseSession } from './erase-session.ts'
import { SessionRecorder } from './record-session.ts'
import { serveSessions } from './serve-sessions.ts'

const tools = ['echo', 'hidden', 'slow'].map((tool) => ({
  server: tool === 'slow' ? 'other' : 'test',
  tool,
  safeName: tool,
  inputSchema: {},
}))

let broker: Broker
let bus: Bus
let client: Bus
let recorder: SessionRecorder
let serving: Disposable
// Sessions are served with these methods only.
const logger = { info: () => undefined, warn: () => undefined } as unknown as Logger

beforeAll(async () => {
  broker = await startBroker()
  bus = await broker.connect('orchestrator')
  client = await broker.connect('gateway')
  serving = await serveSessions({
    bus,
    logger,
    views: new SessionViews(bus),
    providers: () => ['demo', 'xai'],
    tools: { current: () => tools },
    policy: { isHidden: (_, { tool }) => tool === 'hidden' },
    limits: { maxToolCalls: 10, maxSessionToolCalls: 100 },
  })
  recorder = new SessionRecorder({ bus, logger })
})
afterAll(async () => {
  await recorder[Symbol.asyncDispose]()
  serving[Symbol.dispose]()
  await broker[Symbol.asyncDispose]()
})

const ask = <Request, Reply>(
  contract: CallContract<string, Request, Reply>,
  request: Request,
  principal = 'ann',
): Promise<Reply> =>
  client.call(contract, {}, request, { envelope: newEnvelope(principal), timeoutMs: 20_000 })

const append = async (session: SessionId, fact: LogFact): Promise<number> => {
  const options = { envelope: newEnvelope('ann'), messageId: crypto.randomUUID() }
  return (await bus.sessions.append(session, fact, options)).seq
}

/** Appends a message and claims its turn. */
async function begin(session: SessionId, id: string): Promise<number> {
  const turn = await append(session, { kind: 'input', fact: { id, text: `what ${id} says` } })
  const generation = generationId(session, turn)
  const base = { turn, seen: turn, messageId: id, orchestrator: 'o', epoch: 1, generation }
  await append(session, { kind: 'turn', fact: { type: 'turn-claimed', ...base } })
  return turn
}

const end = (session: SessionId, turn: number): Promise<number> =>
  append(session, {
    kind: 'turn',
    fact: { type: 'turn-done', turn, seen: turn, outcome: 'completed' },
  })

/** A session with one turn, whose record is listed. */
async function listedSession(): Promise<SessionId> {
  const session = newSessionId()
  await end(session, await begin(session, 'a'))
  recorder.note(session, await openState(bus, session))
  await eventually(async () => {
    const { sessions } = await ask(listSessions, { limit: 100 })
    return sessions.some(({ id }) => id === session)
  })
  return session
}

const notFound = { code: 'not-found', field: 'session' }

describe('sessions', () => {
  test('a session is found, listed and read only by its owner', async () => {
    const session = await listedSession()
    expect(await ask(getSession, { session })).toMatchObject({
      id: session,
      owner: 'ann',
      title: 'what a says',
      messages: 1,
    })
    const { messages } = await ask(sessionHistory, { session, limit: 10 })
    expect(messages).toMatchObject([{ id: 'a', role: 'user', content: 'what a says' }])
    expect(await ask(listSessions, { limit: 100 }, 'bob')).toEqual({ sessions: [] })
    const title = 'mine'
    await expect(ask(getSession, { session }, 'bob')).rejects.toMatchObject(notFound)
    await expect(ask(updateSession, { session, title }, 'bob')).rejects.toMatchObject(notFound)
    await expect(ask(deleteSession, { session }, 'bob')).rejects.toMatchObject(notFound)
    await expect(ask(sessionHistory, { session, limit: 10 }, 'bob')).rejects.toMatchObject(notFound)
  })

  test('a session shows its tool calls, its limits and the tools that it may use now', async () => {
    const session = await listedSession()
    expect(await ask(getSession, { session })).toMatchObject({
      toolCallCount: 0,
      limits: { maxToolCalls: 10, maxSessionToolCalls: 100 },
      capabilities: {
        toolCount: 2,
        tools: [
          { server: 'test', tool: 'echo' },
          { server: 'other', tool: 'slow' },
        ],
      },
    })
    await ask(updateSession, { session, maxToolCalls: 3, servers: [ServerName.parse('other')] })
    const turn = await begin(session, 'b')
    const generation = generationId(session, turn)
    const block = {
      type: 'tool-call' as const,
      id: toolCallId(generation, 0),
      name: 'x',
      arguments: {},
    }
    const result = {
      generation,
      outcome: 'completed' as const,
      content: [block],
      provider: 'p',
      model: 'm',
    }
    await append(session, { kind: 'generation', fact: result })
    await end(session, turn)
    recorder.note(session, await openState(bus, session))
    await eventually(async () => (await ask(getSession, { session })).toolCallCount === 1)
    expect(await ask(getSession, { session })).toMatchObject({
      limits: { maxToolCalls: 3 },
      capabilities: { toolCount: 1, tools: [{ server: 'other', tool: 'slow' }] },
    })
  })

  test('a session keeps the title that its owner set', async () => {
    const session = await listedSession()
    await ask(updateSession, { session, title: 'my  trip' })
    await end(session, await begin(session, 'b'))
    recorder.note(session, await openState(bus, session))
    await eventually(async () => (await ask(getSession, { session })).messages === 2)
    expect(await ask(getSession, { session })).toMatchObject({ title: 'my trip', isTitled: true })
  })

  test('a session may be created before its first message', async () => {
    const session = newSessionId()
    await ask(updateSession, { session, title: 'plans', create: true })
    expect(await ask(sessionHistory, { session, limit: 10 })).toEqual({ messages: [] })
    await end(session, await begin(session, 'a'))
    recorder.note(session, await openState(bus, session))
    await eventually(async () => (await ask(getSession, { session })).messages === 1)
    expect((await ask(getSession, { session })).title).toBe('plans')
  })
})

describe('deletion', () => {
  /** The end of a call whose result is in the object store. */
  const finished = (call: ToolCallId, key: string): LogFact => ({
    kind: 'tool',
    fact: {
      type: 'tool-finished',
      call,
      server: 's',
      tool: 't',
      outcome: 'ok',
      content: [],
      blob: { key, bytes: 3, digest: 'd' },
      durationMs: 1,
    },
  })

  test('a deletion ends running turns, removes all data and marks the record', async () => {
    const session = await listedSession()
    const { key } = await bus.blobs.put(new Uint8Array([1, 2, 3]), { session })
    // A file that no message names.
    const { key: unattached } = await bus.blobs.put(new Uint8Array([4]), { session })
    const call = toolCallId(generationId(session, 1), 0)
    await append(session, finished(call, key))
    await bus.snapshots.put(session, new Uint8Array([1]))
    const turn = await begin(session, 'b')
    // As an orchestrator that runs the turn.
    const stop = new AbortController()
    const received: string[] = []
    const running = (async () => {
      const options = { after: turn, deltas: false, signal: stop.signal }
      for await (const item of client.sessions.follow(session, options)) {
        if (item.type !== 'entry' || item.entry.kind !== 'control') continue
        received.push(item.entry.fact.type)
        await end(session, turn)
      }
    })()
    expect(await ask(deleteSession, { session })).toEqual({})
    expect(await bus.sessions.read(session, 0)).toEqual([])
    expect(await bus.snapshots.get(session)).toBeUndefined()
    for (const each of [key, unattached]) expect(await bus.blobs.find(each)).toBeUndefined()
    await eventually(() => received.length > 0)
    expect(received).toEqual(['session-deleted'])
    stop.abort()
    await running
    await expect(ask(getSession, { session })).rejects.toMatchObject(notFound)
    await expect(ask(deleteSession, { session })).rejects.toMatchObject(notFound)
    await expect(ask(sessionHistory, { session, limit: 1 })).rejects.toMatchObject(notFound)
    const create = { session, title: 'again', create: true }
    await expect(ask(updateSession, create)).rejects.toMatchObject(notFound)
    await eventually(async () => {
      const { sessions } = await ask(listSessions, { limit: 100 })
      return sessions.every(({ id }) => id !== session)
    })
    expect((await bus.directory.get(session))?.record).toMatchObject({
      state: 'deleted',
      title: '',
    })
  })

  test('a deletion waits for the end of a running turn', async () => {
    const session = await listedSession()
    const turn = await begin(session, 'b')
    const deleted = ask(deleteSession, { session })
    await eventually(async () => {
      const entries = await bus.sessions.read(session, turn)
      return entries.some(({ kind }) => kind === 'control')
    })
    expect(await bus.sessions.read(session, 0)).not.toEqual([])
    await end(session, turn)
    await deleted
    expect(await bus.sessions.read(session, 0)).toEqual([])
  })

  test('a deletion waits for a limited time', async () => {
    const session = await listedSession()
    await begin(session, 'b')
    const check = (record: SessionRecord | undefined) => record
    const options = { envelope: newEnvelope('ann'), check }
    expect(await eraseSession({ bus, logger, endLimitMs: 100 }, session, options)).toBe(true)
    expect(await bus.sessions.read(session, 0)).toEqual([])
  })
})

test('a long session is read from its snapshot and in pages from its log', async () => {
  const session = newSessionId()
  const ids = Array.from({ length: 100 }, (_, index) => `m${index}`)
  for (const id of ids) {
    const turn = await begin(session, id)
    const result = { generation: generationId(session, turn), provider: 'p', model: 'm' }
    const content = [{ type: 'text' as const, text: `${id} `.padEnd(20_000, 'x') }]
    await append(session, {
      kind: 'generation',
      fact: { ...result, outcome: 'completed', content },
    })
    await end(session, turn)
  }
  const whole = await ask(sessionHistory, { session, limit: 20 })
  expect(whole.messages).toHaveLength(40)
  const text = toSnapshot(await openState(bus, session)) ?? ''
  await bus.snapshots.put(session, new TextEncoder().encode(text))
  expect((await openState(bus, session)).prunedThrough).toBeGreaterThan(0)
  expect(await ask(sessionHistory, { session, limit: 20 })).toEqual(whole)
  const oldest = await ask(sessionHistory, { session, limit: 20, before: 'm20' })
  expect(oldest.next).toBeUndefined()
  expect(oldest.messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(
    ids.slice(0, 20),
  )
  expect(oldest.messages[1]?.content).toMatch(/^m0 x/)
})

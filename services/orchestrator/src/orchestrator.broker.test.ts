// A whole orchestrator over a real broker, which finds what was stored while there was none.
import type { Bus } from '@mcp-host/bus'
import type { LogFact, SessionId } from '@mcp-host/contracts'
import {
  generate,
  generationId,
  getSession,
  newEnvelope,
  newSessionId,
  sessionHistory,
  updateSession,
} from '@mcp-host/contracts'
import type { ServiceDeps } from '@mcp-host/service'
import { createLogger, loadConfig } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { orchestratorSettings } from './config.ts'
import { createOrchestrator } from './orchestrator.ts'
import { WAITED_MS } from './loop/session-run.ts'

let broker: Broker
let client: Bus
/** Sessions for which a model was asked. */
const asked: SessionId[] = []
beforeAll(async () => {
  broker = await startBroker()
  client = await broker.connect('gateway')
  const worker = await broker.connect('llm-worker')
  worker.serve(generate, {}, ({ request }) => {
    asked.push(request.session)
    return { worker: worker.id }
  })
})
afterAll(() => broker[Symbol.asyncDispose]())

let stack: AsyncDisposableStack
let session: SessionId
beforeEach(() => {
  stack = new AsyncDisposableStack()
  session = newSessionId()
})
afterEach(() => stack.disposeAsync())

const envelope = newEnvelope('local')

const store = async (fact: LogFact): Promise<number> =>
  (await client.sessions.append(session, fact, { envelope, messageId: crypto.randomUUID() })).seq

const say = (id: string): Promise<number> => store({ kind: 'input', fact: { id, text: 'hi' } })
const markDeleted = (): Promise<number> =>
  store({ kind: 'control', fact: { type: 'session-deleted' } })

async function start(): Promise<void> {
  const bus = await broker.connect('orchestrator')
  const logger = createLogger('orchestrator', 'silent')
  // It uses nothing of how services are watched.
  const deps = { bus, logger, metrics: new Registry() } as unknown as ServiceDeps
  const service = await createOrchestrator(deps, loadConfig(orchestratorSettings, {}))
  stack.defer(async () => {
    await service.drain()
    await service[Symbol.asyncDispose]()
    await bus[Symbol.asyncDispose]()
  })
}

const ask = (contract: typeof getSession | typeof sessionHistory | typeof updateSession) =>
  client.call<string, unknown, unknown>(
    contract,
    {},
    { session, limit: 1, create: true },
    { envelope, timeoutMs: 5_000 },
  )

async function isErased(): Promise<boolean> {
  const known = await client.directory.get(session)
  return known?.record.state === 'deleted' && (await client.sessions.lastSequence(session)) === 0
}

test('a session that was deleted while no orchestrator was there is erased, and nothing in it runs', async () => {
  await say('a')
  await markDeleted()
  await say('too late')
  const storedAt = Date.now()
  await eventually(() => Date.now() - storedAt > WAITED_MS)
  await start()
  for (const contract of [getSession, sessionHistory, updateSession]) {
    await expect(ask(contract)).rejects.toMatchObject({ code: 'not-found' })
  }
  await eventually(isErased)
  expect(asked).not.toContain(session)
})

test('a session that was deleted after its orchestrator died in mid-turn is erased', async () => {
  const turn = await say('a')
  const generation = generationId(session, 0)
  const claim = { turn, seen: turn, messageId: 'a', orchestrator: 'dead', epoch: 1, generation }
  await store({ kind: 'turn', fact: { type: 'turn-claimed', ...claim } })
  await markDeleted()
  await start()
  await eventually(isErased, { limitMs: 15_000 })
  expect(asked).not.toContain(session)
})

test('the erasing goes on where a process died that had marked the record only', async () => {
  await start()
  await say('a')
  await eventually(() => asked.includes(session))
  const { record } = (await eventually(() => client.directory.get(session))) ?? {}
  await client.directory.put({ ...record, state: 'deleted' })
  await markDeleted()
  await eventually(isErased, { limitMs: 5_000 })
})

// A whole orchestrator over a real broker, started after entries were stored.
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
/** Sessions for which a generation was requested. */
const generated: SessionId[] = []
beforeAll(async () => {
  broker = await startBroker()
  client = await broker.connect('gateway')
  const worker = await broker.connect('llm-worker')
  worker.serve(generate, {}, ({ request }) => {
    generated.push(request.session)
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

const addInput = (id: string): Promise<number> => store({ kind: 'input', fact: { id, text: 'hi' } })
const markDeleted = (): Promise<number> =>
  store({ kind: 'control', fact: { type: 'session-deleted' } })

async function start(): Promise<void> {
  const bus = await broker.connect('orchestrator')
  const logger = createLogger('orchestrator', 'silent')
  // An orchestrator uses no other member.
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

test('a session that was deleted without an orchestrator is erased, and none of its turns run', async () => {
  await addInput('a')
  await markDeleted()
  await addInput('too late')
  const storedAt = Date.now()
  await eventually(() => Date.now() - storedAt > WAITED_MS)
  await start()
  for (const contract of [getSession, sessionHistory, updateSession]) {
    await expect(ask(contract)).rejects.toMatchObject({ code: 'not-found' })
  }
  await eventually(isErased)
  expect(generated).not.toContain(session)
})

test('a session that was deleted after the death of its orchestrator is erased', async () => {
  const turn = await addInput('a')
  const generation = generationId(session, 0)
  const claim = { turn, seen: turn, messageId: 'a', orchestrator: 'dead', epoch: 1, generation }
  await store({ kind: 'turn', fact: { type: 'turn-claimed', ...claim } })
  await markDeleted()
  await start()
  await eventually(isErased, { limitMs: 15_000 })
  expect(generated).not.toContain(session)
})

test('the erasure of a session whose record is marked as deleted is resumed', async () => {
  await start()
  await addInput('a')
  await eventually(() => generated.includes(session))
  const { record } = (await eventually(() => client.directory.get(session))) ?? {}
  await client.directory.put({ ...record, state: 'deleted' })
  await markDeleted()
  await eventually(isErased, { limitMs: 5_000 })
})

// Cancelled and drained tool calls over a real broker, with MCP servers that are processes of their own.
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Bus } from '@mcp-host/bus'
import type { ServerName, SessionId, ToolCallId, ToolFact } from '@mcp-host/contracts'
import {
  BusError,
  callControl,
  newEnvelope,
  newSessionId,
  runTool,
  toolOutcome,
} from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { createLogger } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { Guardian, spawnGuarded } from 'mcp-host/process'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSupervisor } from './supervisor.ts'

const program = join(import.meta.dirname, '..', 'test', 'fixtures', 'holding-server.ts')
const server = 'it' as ServerName
const options = { envelope: newEnvelope('local'), timeoutMs: 5_000 }

let broker: Broker
let orchestrator: Bus
beforeAll(async () => {
  broker = await startBroker()
  orchestrator = await broker.connect()
})
afterAll(() => broker[Symbol.asyncDispose]())

let stack: AsyncDisposableStack
let session: SessionId
let folder: string
let metrics: Registry
let supervisor: Service
let isReady: () => boolean
/** Of the process of the server. */
let pidOf: () => number | undefined
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.use(await testFolder()).path
  session = newSessionId()
  await writeFile(join(folder, 'journal'), '')
})
afterEach(() => stack.disposeAsync())

const fixture = (type: 'stdio' | 'http'): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [program, type, join(folder, 'journal'), join(folder, 'release')],
})

/** An `mcp.json` entry of a server that is reached over HTTP, which runs as a process of its own. */
async function remote(): Promise<object> {
  const child = await spawnGuarded(stack.use(new Guardian()), {
    ...fixture('http'),
    cwd: folder,
    env: {},
  })
  const [port] = await once(createInterface({ input: child.stdout! }), 'line')
  return { type: 'http', url: `http://127.0.0.1:${port}/mcp` }
}

async function start(entry: object): Promise<void> {
  const mcpJsonPath = join(folder, 'mcp.json')
  await writeFile(mcpJsonPath, JSON.stringify({ servers: { [server]: entry } }))
  const logger = createLogger('mcp-supervisor', 'silent')
  metrics = new Registry()
  const bus = await broker.connect()
  // It uses nothing of how services are watched.
  const deps = { bus, logger, metrics } as unknown as ServiceDeps
  const times = { defaultToolTimeoutMs: 60_000, inputTimeoutMs: 60_000, installTimeoutMs: 30_000 }
  const settings = { mcpJsonPath, maxSessionProcesses: 10, ...times }
  supervisor = stack.use(await createSupervisor(deps, settings, {}))
  const { entries } = await orchestrator.catalog.watch()
  const published = () => entries.get(`server.${server}.${bus.id}`)
  pidOf = () => {
    const found = published()
    return found?.kind === 'server' ? found.pid : undefined
  }
  isReady = () => {
    const found = published()
    return found?.kind === 'server' && found.state === 'ready' && found.restarts === 0
  }
  await eventually(isReady)
}

const run = (call: ToolCallId, tool = 'hold'): Promise<unknown> =>
  eventually(() =>
    orchestrator
      .call(
        runTool,
        { server },
        { session, call, attempt: 1, tool, arguments: {}, after: 0 },
        options,
      )
      .catch((error: unknown) => {
        // It is ready, but does not listen yet.
        expect(error).toMatchObject({ code: 'unavailable' })
        return undefined
      }),
  )

const control = (call: ToolCallId, action: 'ping' | 'cancel'): Promise<unknown> =>
  orchestrator.call(callControl, { call }, { action }, options)

const facts = async (call: ToolCallId): Promise<ToolFact[]> =>
  (await orchestrator.sessions.read(session, 0)).flatMap((entry) =>
    entry.kind === 'tool' && entry.fact.call === call ? [entry.fact] : [],
  )

const ended = (call: ToolCallId): Promise<ToolFact> =>
  eventually(async () => (await facts(call)).find(({ type }) => type === 'tool-finished'))

const heard = async (line: string, count = 1): Promise<void> => {
  const all = async (): Promise<string[]> =>
    (await readFile(join(folder, 'journal'), 'utf8')).split('\n').filter((each) => each === line)
  await eventually(async () => (await all()).length === count, { what: `${count} × ${line}` })
}

const release = (): Promise<void> => writeFile(join(folder, 'release'), '')

async function timed(): Promise<number> {
  const text = await metrics.getSingleMetricAsString('mcp_host_tool_cancel_seconds')
  return Number(/_count\S* (\d+)/.exec(text)?.[1] ?? 0)
}

const calls = (): [ToolCallId, ToolCallId] => [
  `${session}-1-0` as ToolCallId,
  `${session}-1-1` as ToolCallId,
]

describe('a cancelled call', () => {
  test.each(['stdio', 'http'] as const)(
    'over %s is cancelled at its server; nothing else is touched, and a late answer is dropped',
    async (type) => {
      await start(type === 'stdio' ? fixture('stdio') : await remote())
      const [mine, other] = calls()
      await run(mine)
      await run(other)
      await heard('called hold', 2)
      await control(mine, 'cancel')
      await heard('cancelled')
      expect(await ended(mine)).toMatchObject({ outcome: 'error', error: { code: 'cancelled' } })
      expect(await timed()).toBe(1)
      await expect(control(other, 'ping')).resolves.toBeDefined()
      await release()
      await heard('answered', 2)
      expect(await ended(other)).toMatchObject({ outcome: 'ok', content: [{ text: 'released' }] })
      expect((await facts(mine)).map((fact) => fact.type)).toEqual([
        'tool-started',
        'tool-finished',
      ])
      await heard('cancelled')
      expect(isReady()).toBe(true)
      expect(await timed()).toBe(1)
    },
  )

  test('ends the question that it asked', async () => {
    await start({ ...fixture('stdio'), scope: 'session' })
    const [call] = calls()
    await run(call, 'ask')
    await eventually(async () => (await facts(call)).some(({ type }) => type === 'input-required'))
    await control(call, 'cancel')
    expect(await ended(call)).toMatchObject({ outcome: 'error', error: { code: 'cancelled' } })
    await heard('cancelled')
    await heard('told {"action":"cancel"}')
  })
})

test('a call whose server is killed in mid-call ends as unknown', async () => {
  await start(fixture('stdio'))
  const [call] = calls()
  await run(call)
  await heard('called hold')
  process.kill(pidOf() ?? 0, 'SIGKILL')
  const end = await ended(call)
  expect(end.type === 'tool-finished' && toolOutcome(end)).toBe('unknown')
})

test('a supervisor that drains takes no more calls, finishes what runs, then frees its server', async () => {
  await start(fixture('stdio'))
  const [running, late] = calls()
  await run(running)
  await heard('called hold')
  const drained = supervisor.drain()
  const request = { session, call: late, attempt: 1, tool: 'hold', arguments: {}, after: 0 }
  await expect(orchestrator.call(runTool, { server }, request, options)).rejects.toThrow(BusError)
  await expect(orchestrator.call(runTool, { server }, request, options)).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(await facts(running)).toHaveLength(1)
  await release()
  await drained
  expect(await ended(running)).toMatchObject({ outcome: 'ok' })
  expect(await facts(late)).toEqual([])
  expect(await orchestrator.leases.holder(`server.${server}`)).toBeUndefined()
})

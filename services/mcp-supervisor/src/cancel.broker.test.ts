// Cancelled and drained tool calls over a real broker, with MCP servers in processes.
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
import { createLogger, loadConfig } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { supervisorSettings } from './config.ts'
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
/** The pid of the MCP server. */
let pidOf: () => number | undefined
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.use(await testFolder()).path
  session = newSessionId()
  await writeFile(join(folder, 'log'), '')
})
afterEach(() => stack.disposeAsync())

const fixture = (type: 'stdio' | 'http'): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [program, type, join(folder, 'log'), join(folder, 'release')],
})

/** Starts the server with HTTP and returns its entry in `mcp.json`. */
async function startHttpServer(): Promise<object> {
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
  // A supervisor uses no other member.
  const deps = { bus, logger, metrics } as unknown as ServiceDeps
  const defaults = loadConfig(supervisorSettings, { SANDBOX: 'none' })
  const settings = { ...defaults, mcpJsonPath, maxSessionProcesses: 10, inputTimeoutMs: 60_000 }
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
        // The server is ready before its supervisor has subscribed to calls.
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

const logged = async (line: string, count = 1): Promise<void> => {
  const matches = async (): Promise<string[]> =>
    (await readFile(join(folder, 'log'), 'utf8')).split('\n').filter((each) => each === line)
  await eventually(async () => (await matches()).length === count, { what: `${count} × ${line}` })
}

const releaseCalls = (): Promise<void> => writeFile(join(folder, 'release'), '')

async function timedCancels(): Promise<number> {
  const text = await metrics.getSingleMetricAsString('mcp_host_tool_cancel_seconds')
  return Number(/_count\S* (\d+)/.exec(text)?.[1] ?? 0)
}

const calls = (): [ToolCallId, ToolCallId] => [
  `${session}-1-0` as ToolCallId,
  `${session}-1-1` as ToolCallId,
]

describe('cancelled calls', () => {
  test.each(['stdio', 'http'] as const)(
    'a cancelled call over %s is cancelled at its server, and its late answer is dropped',
    async (type) => {
      await start(type === 'stdio' ? fixture('stdio') : await startHttpServer())
      const [mine, other] = calls()
      await run(mine)
      await run(other)
      await logged('called hold', 2)
      await control(mine, 'cancel')
      await logged('cancelled')
      expect(await ended(mine)).toMatchObject({ outcome: 'error', error: { code: 'cancelled' } })
      expect(await timedCancels()).toBe(1)
      await expect(control(other, 'ping')).resolves.toBeDefined()
      await releaseCalls()
      await logged('answered', 2)
      expect(await ended(other)).toMatchObject({ outcome: 'ok', content: [{ text: 'released' }] })
      expect((await facts(mine)).map((fact) => fact.type)).toEqual([
        'tool-started',
        'tool-finished',
      ])
      await logged('cancelled')
      expect(isReady()).toBe(true)
      expect(await timedCancels()).toBe(1)
    },
  )

  test('a cancelled call ends its open elicitation', async () => {
    await start({ ...fixture('stdio'), scope: 'session' })
    const [call] = calls()
    await run(call, 'ask')
    await eventually(async () => (await facts(call)).some(({ type }) => type === 'input-required'))
    await control(call, 'cancel')
    expect(await ended(call)).toMatchObject({ outcome: 'error', error: { code: 'cancelled' } })
    await logged('cancelled')
    await logged('told {"action":"cancel"}')
  })
})

test('a call whose server is killed in mid-call ends with an unknown outcome', async () => {
  await start(fixture('stdio'))
  const [call] = calls()
  await run(call)
  await logged('called hold')
  process.kill(pidOf() ?? 0, 'SIGKILL')
  const end = await ended(call)
  expect(end.type === 'tool-finished' && toolOutcome(end)).toBe('unknown')
})

test('a draining supervisor refuses new calls, finishes running ones, then releases its lease', async () => {
  await start(fixture('stdio'))
  const [running, late] = calls()
  await run(running)
  await logged('called hold')
  const drained = supervisor.drain()
  const request = { session, call: late, attempt: 1, tool: 'hold', arguments: {}, after: 0 }
  await expect(orchestrator.call(runTool, { server }, request, options)).rejects.toThrow(BusError)
  await expect(orchestrator.call(runTool, { server }, request, options)).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(await facts(running)).toHaveLength(1)
  await releaseCalls()
  await drained
  expect(await ended(running)).toMatchObject({ outcome: 'ok' })
  expect(await facts(late)).toEqual([])
  expect(await orchestrator.leases.holder(`server.${server}`)).toBeUndefined()
})

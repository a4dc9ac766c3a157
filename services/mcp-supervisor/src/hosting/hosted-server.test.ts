import type { Bus } from '@mcp-host/bus'
import type { LogFact, ServerName, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import { createLogger } from '@mcp-host/service'
import { eventually } from '@mcp-host/testkit'
import type { MCPHost, ServerSnapshot } from 'mcp-host'
import { expect, test } from 'vitest'
import { bindSubjects } from '../handlers/index.ts'
import { RunningCalls } from '../tool-calls/running-calls.ts'
import { ResumableRequests } from '../mcp-requests/resumable-requests.ts'
import type { HostedServerDeps } from './hosted-server.ts'
import { HostedServer } from './hosted-server.ts'
import type { ClientLists } from '../catalog/client-lists.ts'

test('a call that is cancelled while its server starts ends at once, and never reaches it', async () => {
  const facts: unknown[] = []
  let cancel: () => void = () => undefined
  let hasCalled = false
  const quiet = (): void => undefined
  const bus = {
    id: 'us',
    listen: () => ({ [Symbol.dispose]: () => undefined }),
    serve(_: unknown, __: unknown, handler: (served: unknown) => void) {
      cancel = () => handler({ request: { action: 'cancel' } })
      return { [Symbol.dispose]: quiet }
    },
    sessions: {
      append: async (_: unknown, { fact }: LogFact) => ({ seq: facts.push(fact) }),
      read: async () => facts.map((fact) => ({ kind: 'tool', fact })),
    },
  } as unknown as Bus
  const host = {
    // It does not come up.
    initialize: () => new Promise(quiet),
    serverChanges: async function* () {},
    callTool: async () => {
      hasCalled = true
    },
  } as unknown as MCPHost
  const logger = createLogger('mcp-supervisor', 'silent')
  const events = { callStarted: quiet, callEnded: quiet, callCancelled: quiet }
  const resumable = new ResumableRequests({ bus })
  const subjects = bindSubjects(bus)
  const deps = { bus, subjects, logger, events, calls: new RunningCalls(), resumable }
  const name = 'it' as ServerName
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const server = new HostedServer(deps, host, { name, config })
  const request = {
    session: 'session' as SessionId,
    call: 'session-0-0' as ToolCallId,
    attempt: 1,
    tool: 'echo',
    arguments: {},
    after: 0,
  }
  server.runTool({ request, envelope: newEnvelope('local') })
  cancel()
  await server.drained()
  expect(facts.at(-1)).toMatchObject({ type: 'tool-finished', error: { code: 'cancelled' } })
  expect(hasCalled).toBe(false)
})

test('the lists of one client are told of every state, and are taken back before the end', async () => {
  const told: unknown[] = []
  const over = Promise.withResolvers<void>()
  const clientLists = {
    take: ({ state }: ServerSnapshot) => told.push(state),
    [Symbol.asyncDispose]() {
      told.push('end')
      return over.promise
    },
    // Only what the server calls.
  } as unknown as ClientLists
  const host = {
    initialize: async () => undefined,
    async *serverChanges() {
      yield* [{ state: 'starting' }, { state: 'ready' }]
    },
    shutdown: async () => void told.push('shutdown'),
    // Only what is called without a process.
  } as unknown as MCPHost
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const server = new HostedServer({} as HostedServerDeps, host, {
    name: 'it' as ServerName,
    config,
    clientLists,
  })
  await eventually(() => told.length === 2)
  const ended = server[Symbol.asyncDispose]().then(() => told.push('over'))
  await eventually(() => told.includes('end'))
  expect(told).toEqual(['starting', 'ready', 'shutdown', 'end'])
  over.resolve()
  await ended
})

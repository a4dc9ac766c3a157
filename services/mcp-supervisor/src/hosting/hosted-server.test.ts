import type { Bus } from '@mcp-host/bus'
import type { LogFact, ServerName, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import { createLogger } from '@mcp-host/service'
import { eventually } from '@mcp-host/testkit'
import type { MCPHost } from 'mcp-host'
import type { ServerSnapshot } from '@mcp-host/upstream'
import { expect, test } from 'vitest'
import { bindSubjects } from '../subjects.ts'
import { RunningCalls } from '../tool-calls/running-calls.ts'
import { ResumableRequests } from '../mcp-requests/resumable-requests.ts'
import type { HostedServerDeps } from './hosted-server.ts'
import { HostedServer } from './hosted-server.ts'
import type { IncomingRequest, RequestForwarder } from '../mcp-requests/request-forwarder.ts'
import type { ClientLists } from '../catalog/client-lists.ts'

test('a call that is cancelled while its server starts ends at once and is not sent', async () => {
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
    // A tool call uses only these members.
  } as unknown as Bus
  const host = {
    // The server never becomes ready.
    initialize: () => new Promise(quiet),
    serverChanges: async function* () {},
    callTool: async () => {
      hasCalled = true
    },
    // HostedServer uses only these members.
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

test("a client's own lists see every state of its process and are withdrawn before the end", async () => {
  const steps: unknown[] = []
  const withdrawn = Promise.withResolvers<void>()
  const clientLists = {
    take: ({ state }: ServerSnapshot) => steps.push(state),
    [Symbol.asyncDispose]() {
      steps.push('end')
      return withdrawn.promise
    },
    // HostedServer uses only these members.
  } as unknown as ClientLists
  const host = {
    initialize: async () => undefined,
    async *serverChanges() {
      yield* [{ state: 'starting' }, { state: 'ready' }]
    },
    shutdown: async () => void steps.push('shutdown'),
    // HostedServer uses only these members without a running process.
  } as unknown as MCPHost
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const server = new HostedServer({} as HostedServerDeps, host, {
    name: 'it' as ServerName,
    config,
    clientLists,
  })
  await eventually(() => steps.length === 2)
  const ended = server[Symbol.asyncDispose]().then(() => steps.push('withdrawn'))
  await eventually(() => steps.includes('end'))
  expect(steps).toEqual(['starting', 'ready', 'shutdown', 'end'])
  withdrawn.resolve()
  await ended
})

test('the parameters of a request are read by the digest that it gives', async () => {
  const bytes = Uint8Array.from(Buffer.from('{}'))
  const blobs = {
    get: async (_: string, { digest = '' } = {}) => (digest === 'd' ? bytes : new Uint8Array()),
  }
  const host = {
    initialize: async () => undefined,
    serverChanges: async function* () {},
    on: () => () => undefined,
    // HostedServer uses only these members without a running process.
  } as unknown as MCPHost
  // A request uses only these members.
  const bus = {
    id: 'us',
    blobs,
    listen: () => new DisposableStack(),
    sinceOutageMs: () => Infinity,
  } as unknown as Bus
  const bodies: unknown[] = []
  const forwarder = {
    run: async (_: unknown, { body }: IncomingRequest) => {
      bodies.push(body)
      return { head: { type: 'result' }, body: '' }
    },
    // A request uses only this member.
  } as unknown as RequestForwarder
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const deps = {
    bus,
    subjects: bindSubjects(bus),
    resumable: new ResumableRequests({ bus }),
    // A request uses only these members.
  } as unknown as HostedServerDeps
  const server = new HostedServer(deps, host, { name: 'it' as ServerName, config, forwarder })
  const head = { method: 'tools/list', id: 'i', era: 'modern', stored: 'k', digest: 'd' } as const
  await server.forward({ head, body: new Uint8Array(), envelope: newEnvelope('local') }, () => {})
  expect(bodies).toEqual([bytes])
})

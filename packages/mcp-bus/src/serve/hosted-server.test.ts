import type { Bus } from '@mcp-host/bus'
import type { LogFact, ServerName, SessionId, ToolCallId } from '@mcp-host/contracts'
import type { CallStep } from '../steps/serve-call.ts'
import { newEnvelope } from '@mcp-host/contracts'
import { createLogger } from '@mcp-host/service'
import { eventually } from '@mcp-host/testkit'
import type { ServerSnapshot, Upstream } from '@mcp-host/upstream'
import { expect, test } from 'vitest'
import { bindSubjects } from '../subjects.ts'
import { RunningCalls } from '../tool-calls/running-calls.ts'
import { ResumableRequests } from '../requests/resumable-requests.ts'
import type { HostedServerDeps } from './hosted-server.ts'
import type { OpenUpstream } from './open-upstream.ts'
import { HostedServer } from './hosted-server.ts'
import type { IncomingRequest, ServedRequests } from '../requests/served-requests.ts'
import type { ClientLists } from '../catalog/client-lists.ts'

const answers = { callback: () => undefined, kinds: [] }

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
  const upstream = {
    // The server never becomes ready.
    start: () => new Promise(quiet),
    snapshot: () => ({ state: 'starting' }),
    callTool: async () => {
      hasCalled = true
    },
    // HostedServer uses only these members.
  } as unknown as Upstream
  const logger = createLogger('mcp-supervisor', 'silent')
  const events = { callStarted: quiet, callEnded: quiet, callCancelled: quiet }
  const resumable = new ResumableRequests({ bus })
  const subjects = bindSubjects(bus)
  const calls = new RunningCalls()
  const openUpstream = (): Upstream => upstream
  const steps: CallStep[] = []
  const callbackOf = () => quiet
  const services = { calls, callbackOf, resumable, openUpstream }
  const deps = { bus, subjects, logger, events, steps, ...services }
  const name = 'it' as ServerName
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const server = new HostedServer(deps, { name, config, answers })
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
  let state = 'starting'
  const openUpstream: OpenUpstream = (_, __, ___, events) =>
    ({
      snapshot: () => ({ state }),
      async start() {
        await new Promise((resolve) => void setImmediate(resolve))
        state = 'ready'
        events.changed?.()
      },
      stop: async () => void steps.push('shutdown'),
      // HostedServer uses only these members without a running process.
    }) as unknown as Upstream
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  // A server without requests uses only these members.
  const deps = { openUpstream, steps: [] } as unknown as HostedServerDeps
  const name = 'it' as ServerName
  const server = new HostedServer(deps, { name, config, answers, clientLists })
  await eventually(() => steps.length === 2)
  const ended = server[Symbol.asyncDispose]().then(() => steps.push('withdrawn'))
  await eventually(() => steps.includes('end'))
  expect(steps).toEqual(['starting', 'ready', 'shutdown', 'end'])
  withdrawn.resolve()
  await ended
})

test('a change of instances that changes no state is reported', async () => {
  const upstream = {
    start: async () => undefined,
    snapshot: () => ({ state: 'ready' }),
    adapt: () => true,
    // HostedServer uses only these members.
  } as unknown as Upstream
  // A server without requests uses only these members.
  const deps = { openUpstream: () => upstream, steps: [] } as unknown as HostedServerDeps
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const name = 'it' as ServerName
  let reports = 0
  const onChange = (): void => void (reports += 1)
  const server = new HostedServer(deps, { name, config, answers, onChange })
  await eventually(() => reports === 1)
  expect(server.adapt(config)).toBe(true)
  await eventually(() => reports === 2)
})

test('the parameters of a request are read by the digest that it gives', async () => {
  const bytes = Uint8Array.from(Buffer.from('{}'))
  const blobs = {
    get: async (_: string, { digest = '' } = {}) => (digest === 'd' ? bytes : new Uint8Array()),
  }
  const upstream = {
    start: async () => undefined,
    snapshot: () => ({ state: 'ready' }),
    // HostedServer uses only these members without a running process.
  } as unknown as Upstream
  // A request uses only these members.
  const bus = {
    id: 'us',
    blobs,
    listen: () => new DisposableStack(),
    sinceOutageMs: () => Infinity,
  } as unknown as Bus
  const bodies: unknown[] = []
  const requests = {
    serve: async (_: unknown, { body }: IncomingRequest) => {
      bodies.push(body)
      return { head: { type: 'result' }, body: '' }
    },
    // A request uses only this member.
  } as unknown as ServedRequests
  const config = { type: 'http' as const, url: 'http://localhost', headers: {} }
  const deps = {
    bus,
    subjects: bindSubjects(bus),
    resumable: new ResumableRequests({ bus }),
    openUpstream: () => upstream,
    steps: [],
    // A request uses only these members.
  } as unknown as HostedServerDeps
  const name = 'it' as ServerName
  const server = new HostedServer(deps, { name, config, answers, requests })
  const head = { method: 'tools/list', id: 'i', era: 'modern', stored: 'k', digest: 'd' } as const
  await server.serveRequest(
    { head, body: new Uint8Array(), envelope: newEnvelope('local') },
    () => {},
  )
  expect(bodies).toEqual([bytes])
})

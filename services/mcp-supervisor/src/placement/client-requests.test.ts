import type { Bus, Lease } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import type { HostedServer, IncomingRequest, McpReply } from '@mcp-host/mcp-bus/serve'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { UpstreamClient } from './caller-keys.ts'
import { ClientRequests } from './client-requests.ts'
import type { Use } from './caller-upstreams.ts'
import type { Peers } from '../leases/peers.ts'
import { ProcessSlots } from './process-slots.ts'

const IDLE_MS = 1_000

/** The state of a process that tests observe and control. */
interface Process extends UpstreamClient {
  /** Ids of the requests that the process ran. */
  readonly ran: string[]
  /** Requests in flight, including those that continue after their answer. */
  inFlight: number
  hasEnded: boolean
  /** Ends the requests in flight. */
  finish(): Promise<void>
  readonly leave: () => void
  /** Sends a request over the bus to the name of the process. */
  byName: (id: string) => Promise<McpReply>
}

/** Holders of leases by key. */
let holders: Map<string, string>
let processes: Process[]
let clients: ClientRequests

beforeEach(() => {
  vi.useFakeTimers()
  holders = new Map()
  processes = []
  const lease = async (key: string): Promise<Lease> => {
    const release = async (): Promise<void> => void holders.delete(key)
    holders.set(key, 'us')
    const { signal: lost } = new AbortController()
    return { key, revision: 1, lost, isHeld: true, release, [Symbol.asyncDispose]: release }
  }
  const bus = {
    id: 'us',
    leases: {
      acquire: lease,
      async holder(key: string) {
        const holder = holders.get(key)
        return holder === undefined ? undefined : { holder, revision: 1 }
      },
    },
    // ClientRequests uses only these members.
  } as unknown as Bus
  // ClientRequests uses only this method.
  const peers = { isGone: async () => false } as unknown as Peers
  const slots = new ProcessSlots(3)
  const warn = (error: unknown): never => {
    throw error
  }
  clients = new ClientRequests(
    { bus, peers, slots, start, idleTimeoutMs: IDLE_MS, warn },
    'own' as ServerName,
  )
})
afterEach(() => void vi.useRealTimers())

function start(client: UpstreamClient, leave: () => void): HostedServer {
  let done = Promise.withResolvers<void>()
  const process: Process = {
    ...client,
    ran: [],
    inFlight: 0,
    hasEnded: false,
    async finish() {
      process.inFlight = 0
      done.resolve()
      done = Promise.withResolvers()
      await vi.advanceTimersByTimeAsync(0)
    },
    leave,
    byName: () => Promise.reject(new Error('the process has no name')),
  }
  processes.push(process)
  const server = {
    serveRequest({ head }: IncomingRequest) {
      process.ran.push(head.id)
      process.inFlight++
      return Promise.resolve({ head: { type: 'result' }, body: '{}' })
    },
    serveClient(name: string, use: Use) {
      expect(name).toBe(client.name)
      process.byName = (id) => use((each) => each.serveRequest(requestOf({ id }), () => undefined))
    },
    abandon: () => undefined,
    drained: () => (process.inFlight === 0 ? Promise.resolve() : done.promise),
    get inFlight() {
      return process.inFlight
    },
    snapshot: { state: 'ready' },
    async [Symbol.asyncDispose]() {
      process.hasEnded = true
    },
  }
  // ClientRequests uses only these members.
  return server as unknown as HostedServer
}

interface RequestOptions {
  readonly id: string
  /** Set if the client has a session. */
  readonly session?: string
  readonly capabilities?: object
  readonly principal?: string
}

function requestOf({
  id,
  session,
  capabilities = {},
  principal = 'local',
}: RequestOptions): IncomingRequest {
  const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
  const params = session === undefined ? { _meta } : {}
  const client =
    session === undefined ? {} : { client: { id: session, capabilities: { ...capabilities } } }
  const era = session === undefined ? 'modern' : 'legacy'
  return {
    head: { method: 'tools/call', id, era, ...client },
    body: new TextEncoder().encode(JSON.stringify(params)),
    envelope: newEnvelope(principal),
  }
}

const serveRequest = (options: RequestOptions): Promise<McpReply> =>
  clients.serveRequest(requestOf(options), () => undefined)

test('the requests of a session run on its dedicated process', async () => {
  const capabilities = { roots: {} }
  const answers = await Promise.all([
    serveRequest({ id: '1', session: 'a', capabilities }),
    serveRequest({ id: '2', session: 'a', capabilities }),
    serveRequest({ id: '3', session: 'b' }),
  ])
  expect(answers).toMatchObject(answers.map(() => ({ head: { type: 'result' } })))
  await processes[0]?.finish()
  await serveRequest({ id: '4', session: 'a', capabilities })
  await processes[0]?.byName('5')
  expect(processes).toMatchObject([
    { name: 'a', capabilities, hasSession: true, ran: ['1', '2', '4', '5'] },
    { name: 'b', capabilities: {}, hasSession: true, ran: ['3'] },
  ])
  expect(clients.upstreams.size).toBe(2)
})

test('a request to the name of a process resets its idle timeout', async () => {
  await serveRequest({ id: '1', session: 'a' })
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  await processes[0]?.byName('2')
  await vi.advanceTimersByTimeAsync(IDLE_MS * 2)
  expect(processes).toMatchObject([{ hasEnded: false }])
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(processes).toMatchObject([{ hasEnded: true }])
})

test('a request of a session whose process is at a peer is refused as unavailable', async () => {
  holders.set('session.own.a', 'peer')
  await expect(serveRequest({ id: '1', session: 'a' })).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(processes).toEqual([])
})

test('concurrent requests without a session run on separate processes', async () => {
  const capabilities = { sampling: {} }
  await Promise.all([
    serveRequest({ id: '1', capabilities }),
    serveRequest({ id: '2', capabilities }),
  ])
  expect(processes).toMatchObject([
    { ran: ['1'], capabilities, hasSession: false },
    { ran: ['2'], capabilities, hasSession: false },
  ])
  const [first, second] = processes
  expect(first?.name).not.toBe(second?.name)
})

test('a process is reused once no request is in flight, not with the first answer', async () => {
  await serveRequest({ id: '1' })
  // The answer was input_required: the first request is still in flight.
  await serveRequest({ id: '2' })
  expect(processes).toMatchObject([{ ran: ['1'] }, { ran: ['2'] }])
  await processes[0]?.byName('1, retried')
  await processes[0]?.finish()
  await serveRequest({ id: '3' })
  expect(processes).toMatchObject([{ ran: ['1', '1, retried', '3'] }, { ran: ['2'] }])
  await serveRequest({ id: '4' })
  expect(processes[2]).toMatchObject({ ran: ['4'] })
})

test('a process is reused only for clients with equal capabilities', async () => {
  await serveRequest({ id: '1', capabilities: { sampling: {} } })
  await processes[0]?.finish()
  await serveRequest({ id: '2', capabilities: { sampling: {}, roots: {} } })
  await serveRequest({ id: '3' })
  await serveRequest({ id: '4', capabilities: { sampling: {} } })
  expect(processes.map(({ ran }) => ran)).toEqual([['1', '4'], ['2'], ['3']])
})

test('a process is reused only by its principal, whose processes it counts among', async () => {
  await serveRequest({ id: '1', principal: 'user:ann' })
  await processes[0]?.finish()
  await serveRequest({ id: '2', principal: 'user:bob' })
  await serveRequest({ id: '3', principal: 'user:ann' })
  expect(processes.map(({ ran }) => ran)).toEqual([['1', '3'], ['2']])
})

test('a process that has ended is not reused', async () => {
  await serveRequest({ id: '1' })
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(clients.upstreams.size).toBe(0)
  await serveRequest({ id: '2' })
  expect(processes).toMatchObject([{ hasEnded: true }, { ran: ['2'] }])
  expect(processes[1]?.name).not.toBe(processes[0]?.name)
})

test('the process of a client that leaves is ended, and its lease released', async () => {
  await Promise.all([
    serveRequest({ id: '1', session: 'a' }),
    serveRequest({ id: '2', session: 'b' }),
  ])
  processes[0]?.leave()
  await vi.advanceTimersByTimeAsync(0)
  expect(processes).toMatchObject([{ hasEnded: true }, { hasEnded: false }])
  expect(Array.from(holders.keys())).toEqual(['session.own.b'])
  await serveRequest({ id: '3', session: 'a' })
  expect(processes[2]).toMatchObject({ name: 'a', ran: ['3'] })
})

test.each<['restart' | 'close', boolean]>([
  ['restart', true],
  ['close', false],
])('a %s ends all processes; later requests run: %s', async (action, mayBegin) => {
  await Promise.all([serveRequest({ id: '1', session: 'a' }), serveRequest({ id: '2' })])
  await processes[1]?.finish()
  await (action === 'restart'
    ? clients.upstreams.restart()
    : clients.upstreams.close({ isGraceful: false }))
  expect(processes).toMatchObject([{ hasEnded: true }, { hasEnded: true }])
  expect(holders.size).toBe(0)
  const next = [serveRequest({ id: '3', session: 'a' }), serveRequest({ id: '4' })]
  const outcomes = (await Promise.allSettled(next)).map(({ status }) => status)
  expect(outcomes).toEqual(next.map(() => (mayBegin ? 'fulfilled' : 'rejected')))
})

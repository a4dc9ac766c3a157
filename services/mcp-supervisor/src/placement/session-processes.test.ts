import type { Bus, Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { HostedServer } from '../hosting/hosted-server.ts'
import type { Peers } from './peers.ts'
import { ProcessSlots } from './process-slots.ts'
import { SessionProcesses } from './session-processes.ts'

const IDLE_MS = 1_000

/** Who holds which session's lease. */
let holders: Map<string, string>
let lost: Map<string, AbortController>
let isBrokerAway: boolean
let dead: Set<string>
let forwarded: unknown[]
/** A process, as far as it is looked at. */
interface Process {
  readonly session: SessionId
  state: 'ready' | 'unavailable'
  calls: number
  inFlight: number
  isOver: boolean
  finish(): Promise<void>
}
let processes: Process[]
let slots: ProcessSlots
let sessions: SessionProcesses
/** Processes cannot be started, or cannot be ended. */
let startFails: boolean
let endFails: boolean
/** What the next new lease waits for. */
let hold: Promise<void> | undefined
/** What the end of a process waits for. */
let ending: Promise<void> | undefined

beforeEach(() => {
  vi.useFakeTimers()
  holders = new Map()
  lost = new Map()
  isBrokerAway = false
  dead = new Set()
  forwarded = []
  processes = []
  slots = new ProcessSlots(2)
  startFails = false
  endFails = false
  hold = undefined
  ending = undefined
  const lease = (key: string): Lease => {
    const ended = new AbortController()
    holders.set(key, 'us')
    lost.set(key, ended)
    const release = async (): Promise<void> => {
      if (holders.get(key) === 'us') holders.delete(key)
    }
    return {
      key,
      revision: 1,
      lost: ended.signal,
      get isHeld() {
        return !ended.signal.aborted
      },
      release,
      [Symbol.asyncDispose]: release,
    }
  }
  const bus = {
    id: 'us',
    leases: {
      async acquire(key: string) {
        if (isBrokerAway) throw new Error('the broker is away')
        await hold
        const holder = holders.get(key)
        return holder === undefined || holder === 'us' ? lease(key) : undefined
      },
      take: async (key: string) => lease(key),
      async holder(key: string) {
        const holder = holders.get(key)
        return holder === undefined ? undefined : { holder, revision: 1 }
      },
    },
    async call(_: unknown, { supervisor }: { supervisor: string }, request: unknown) {
      forwarded.push(request)
      return { supervisor }
    },
  } as unknown as Bus
  const peers = { isGone: async (id: string) => dead.has(id) } as unknown as Peers
  sessions = new SessionProcesses(
    { bus, peers, slots, start: startProcess, idleTimeoutMs: IDLE_MS, warn: () => undefined },
    'own' as ServerName,
  )
})
afterEach(() => void vi.useRealTimers())

function startProcess(session: SessionId): HostedServer {
  if (startFails) throw new Error('cannot start')
  let done = Promise.withResolvers<void>()
  const process: Process = {
    session,
    state: 'ready',
    calls: 0,
    inFlight: 0,
    isOver: false,
    async finish() {
      process.inFlight = 0
      done.resolve()
      done = Promise.withResolvers()
      await vi.advanceTimersByTimeAsync(0)
    },
  }
  processes.push(process)
  return {
    runTool() {
      process.calls++
      process.inFlight++
      return { supervisor: 'us' }
    },
    abandon: () => undefined,
    drained: () => (process.inFlight === 0 ? Promise.resolve() : done.promise),
    get inFlight() {
      return process.inFlight
    },
    get snapshot() {
      return { state: process.state }
    },
    async [Symbol.asyncDispose]() {
      await ending
      process.isOver = true
      if (endFails) throw new Error('cannot end')
    },
  } as unknown as HostedServer
}

const keyOf = (session: string): string => `session.own.${session}`

function call(session: string): ServedRequest<RunToolRequest> {
  const request = {
    session: session as SessionId,
    call: 'call' as ToolCallId,
    attempt: 1,
    tool: 'echo',
    arguments: {},
    after: 0,
  }
  return { request, envelope: newEnvelope('local') }
}

test('calls of a session run on its process, those of another on another', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('a')), sessions.run(call('b'))])
  await sessions.run(call('a'))
  expect(processes).toMatchObject([
    { session: 'a', calls: 3 },
    { session: 'b', calls: 1 },
  ])
  expect(Array.from(holders)).toEqual([
    [keyOf('a'), 'us'],
    [keyOf('b'), 'us'],
  ])
})

test('a process that nobody uses for long is ended, and its place and lease are free', async () => {
  await sessions.run(call('a'))
  await vi.advanceTimersByTimeAsync(IDLE_MS * 3)
  expect(processes[0]?.isOver).toBe(false)
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  expect(processes[0]?.isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(processes[0]?.isOver).toBe(true)
  expect(sessions.size).toBe(0)
  expect(holders.size).toBe(0)
})

test('a call just before it is idle keeps the process', async () => {
  await sessions.run(call('a'))
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  await sessions.run(call('a'))
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(processes).toMatchObject([{ calls: 2, isOver: false }])
})

test('more processes than allowed are refused with what to do; one that ends makes room', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  await expect(sessions.run(call('c'))).rejects.toMatchObject({
    // Another supervisor may have room.
    code: 'unavailable',
    message: expect.stringContaining('MAX_SESSION_PROCESSES'),
  })
  // Nothing of it is left.
  expect(holders.has(keyOf('c'))).toBe(false)
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  await sessions.run(call('c'))
  expect(processes.at(-1)).toMatchObject({ session: 'c' })
})

test('where all slots are taken, the process that was idle for longest is ended for the new one', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  await processes[0]?.finish()
  await processes[1]?.finish()
  // In use and idle once more: now the other is idle for longer.
  await sessions.run(call('a'))
  await processes[0]?.finish()
  const ended = Promise.withResolvers<void>()
  ending = ended.promise
  const third = sessions.run(call('c'))
  await vi.advanceTimersByTimeAsync(10)
  expect(processes).toHaveLength(2)
  ended.resolve()
  await third
  expect(processes).toMatchObject([
    { session: 'a', isOver: false },
    { session: 'b', isOver: true },
    { session: 'c', isOver: false },
  ])
  await sessions.run(call('a'))
  // Both are in use.
  await expect(sessions.run(call('b'))).rejects.toMatchObject({ code: 'unavailable' })
  expect(processes).toHaveLength(3)
})

test('a process that cannot be started leaves neither its lease nor its place taken', async () => {
  startFails = true
  for (const session of ['a', 'b', 'c']) {
    await expect(sessions.run(call(session))).rejects.toThrow('cannot start')
  }
  expect(holders.size).toBe(0)
})

test('a process that ends with an error leaves neither its lease nor its place taken', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  endFails = true
  await sessions.restart()
  expect(holders.size).toBe(0)
  await Promise.all([sessions.run(call('c')), sessions.run(call('d'))])
})

test('a lease that comes back when its process has ended meanwhile is given up', async () => {
  await sessions.run(call('a'))
  const held = Promise.withResolvers<void>()
  hold = held.promise
  holders.clear()
  lost.get(keyOf('a'))?.abort()
  await sessions.restart()
  held.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(holders.size).toBe(0)
})

test('a process that broke is ended after its call: the next begins anew', async () => {
  await sessions.run(call('a'))
  const [first] = processes
  if (first !== undefined) first.state = 'unavailable'
  await first?.finish()
  await vi.advanceTimersByTimeAsync(1)
  expect(first?.isOver).toBe(true)
  await sessions.run(call('a'))
  expect(processes).toHaveLength(2)
})

test('a call of a session that is elsewhere is passed on', async () => {
  holders.set(keyOf('a'), 'peer')
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'peer' })
  expect(forwarded).toMatchObject([{ session: 'a', server: 'own', tool: 'echo' }])
  expect(processes).toEqual([])
})

test('a call that was passed on is not passed on again', async () => {
  holders.set(keyOf('a'), 'peer')
  await expect(sessions.runSessionTool(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
})

test('a session whose supervisor is dead gets a process here', async () => {
  holders.set(keyOf('a'), 'peer')
  dead.add('peer')
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'us' })
  expect(processes).toMatchObject([{ session: 'a' }])
})

test('a broker that was away for long does not cost the session its process', async () => {
  await sessions.run(call('a'))
  isBrokerAway = true
  lost.get(keyOf('a'))?.abort()
  holders.clear()
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(sessions.run(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
  isBrokerAway = false
  await vi.advanceTimersByTimeAsync(1_000)
  await sessions.run(call('a'))
  expect(processes).toMatchObject([{ calls: 2, isOver: false }])
})

test('a session that another has by then loses its process here', async () => {
  await sessions.run(call('a'))
  holders.set(keyOf('a'), 'peer')
  lost.get(keyOf('a'))?.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(processes).toMatchObject([{ isOver: true }])
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'peer' })
})

test('all are ended by a close, calls under way first; then nothing is begun any more', async () => {
  await sessions.run(call('a'))
  const closed = sessions.close({ isGraceful: true })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(processes[0]?.isOver).toBe(false)
  await processes[0]?.finish()
  await closed
  expect(processes[0]?.isOver).toBe(true)
  expect(holders.size).toBe(0)
  await expect(sessions.run(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
})

import type { Bus, Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId, ToolCallId } from '@mcp-host/contracts'
import { newEnvelope } from '@mcp-host/contracts'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Peers } from '../leases/peers.ts'
import { ProcessSlots } from './process-slots.ts'
import { SessionCalls } from './session-calls.ts'

const IDLE_MS = 1_000

/** Holders of leases by key. */
let holders: Map<string, string>
let lost: Map<string, AbortController>
let isBrokerDown: boolean
let dead: Set<string>
let passedOn: unknown[]
/** The state of a process that tests observe and control. */
interface Process {
  readonly session: SessionId
  state: 'ready' | 'unavailable'
  calls: number
  inFlight: number
  hasEnded: boolean
  finish(): Promise<void>
}
let processes: Process[]
let slots: ProcessSlots
let deps: ConstructorParameters<typeof SessionCalls>[0]
let sessions: SessionCalls
/** Whether starting, and ending, a process throws. */
let startFails: boolean
let endFails: boolean
/** Delays the next new lease. */
let leaseGate: Promise<void> | undefined
/** Delays the end of a process. */
let endGate: Promise<void> | undefined

beforeEach(() => {
  vi.useFakeTimers()
  holders = new Map()
  lost = new Map()
  isBrokerDown = false
  dead = new Set()
  passedOn = []
  processes = []
  slots = new ProcessSlots(2)
  startFails = false
  endFails = false
  leaseGate = undefined
  endGate = undefined
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
        if (isBrokerDown) throw new Error('the broker is away')
        await leaseGate
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
      passedOn.push(request)
      return { supervisor }
    },
    // SessionCalls uses only these members.
  } as unknown as Bus
  // SessionCalls uses only this method.
  const peers = { isGone: async (id: string) => dead.has(id) } as unknown as Peers
  deps = { bus, peers, slots, start: startProcess, idleTimeoutMs: IDLE_MS, warn: () => undefined }
  sessions = new SessionCalls(deps, 'own' as ServerName)
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
    hasEnded: false,
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
      await endGate
      process.hasEnded = true
      if (endFails) throw new Error('cannot end')
    },
    // SessionCalls uses only these members.
  } as unknown as HostedServer
}

const keyOf = (session: string): string => `session.own.${session}`

function call(session: string, principal = 'local'): ServedRequest<RunToolRequest> {
  const request = {
    session: session as SessionId,
    call: 'call' as ToolCallId,
    attempt: 1,
    tool: 'echo',
    arguments: {},
    after: 0,
  }
  return { request, envelope: newEnvelope(principal) }
}

test('the calls of a session run on its dedicated process', async () => {
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

test('an idle process is ended, and its slot and lease are released', async () => {
  await sessions.run(call('a'))
  await vi.advanceTimersByTimeAsync(IDLE_MS * 3)
  expect(processes[0]?.hasEnded).toBe(false)
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  expect(processes[0]?.hasEnded).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(processes[0]?.hasEnded).toBe(true)
  expect(sessions.upstreams.size).toBe(0)
  expect(holders.size).toBe(0)
})

test('a call resets the idle timeout of its process', async () => {
  await sessions.run(call('a'))
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  await sessions.run(call('a'))
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(processes).toMatchObject([{ calls: 2, hasEnded: false }])
})

test('the sessions of one principal leave processes to those of others', async () => {
  deps = { ...deps, slots: new ProcessSlots(8) }
  sessions = new SessionCalls(deps, 'own' as ServerName)
  const mine = (session: string) => sessions.run(call(session, 'user:mal'))
  await Promise.all(['a', 'b', 'c', 'd'].map(mine))
  await expect(mine('e')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/all 4 of the 8 processes .* MAX_SESSION_PROCESSES/),
  })
  await sessions.run(call('f', 'user:ann'))
  await processes.at(-1)?.finish()
  await processes[1]?.finish()
  await mine('e')
  // Its own idle process made room, and not the one of another principal.
  const ended = processes.filter(({ hasEnded }) => hasEnded).map(({ session }) => session)
  expect(ended).toEqual(['b'])
})

test('a process beyond the limit is refused with the setting to raise, until another ends', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  await expect(sessions.run(call('c'))).rejects.toMatchObject({
    // Another supervisor may have room.
    code: 'unavailable',
    message: expect.stringContaining('MAX_SESSION_PROCESSES'),
  })
  // The refused call has released its lease.
  expect(holders.has(keyOf('c'))).toBe(false)
  await processes[0]?.finish()
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  await sessions.run(call('c'))
  expect(processes.at(-1)).toMatchObject({ session: 'c' })
})

test('the process that is idle for longest is evicted when all slots are taken', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  await processes[0]?.finish()
  await processes[1]?.finish()
  // After this call the other process has been idle for longer.
  await sessions.run(call('a'))
  await processes[0]?.finish()
  const ended = Promise.withResolvers<void>()
  endGate = ended.promise
  const third = sessions.run(call('c'))
  await vi.advanceTimersByTimeAsync(10)
  expect(processes).toHaveLength(2)
  ended.resolve()
  await third
  expect(processes).toMatchObject([
    { session: 'a', hasEnded: false },
    { session: 'b', hasEnded: true },
    { session: 'c', hasEnded: false },
  ])
  await sessions.run(call('a'))
  // Both are in use.
  await expect(sessions.run(call('b'))).rejects.toMatchObject({ code: 'unavailable' })
  expect(processes).toHaveLength(3)
})

test('a process that cannot be started releases its lease and slot', async () => {
  startFails = true
  for (const session of ['a', 'b', 'c']) {
    await expect(sessions.run(call(session))).rejects.toThrow('cannot start')
  }
  expect(holders.size).toBe(0)
})

test('a process that ends with an error releases its lease and slot', async () => {
  await Promise.all([sessions.run(call('a')), sessions.run(call('b'))])
  endFails = true
  await sessions.upstreams.restart()
  expect(holders.size).toBe(0)
  await Promise.all([sessions.run(call('c')), sessions.run(call('d'))])
})

test('a lease that is acquired after the end of its process is released', async () => {
  await sessions.run(call('a'))
  const gate = Promise.withResolvers<void>()
  leaseGate = gate.promise
  holders.clear()
  lost.get(keyOf('a'))?.abort()
  await sessions.upstreams.restart()
  gate.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(holders.size).toBe(0)
})

test('an unavailable process is ended after its call, and the next call starts another', async () => {
  await sessions.run(call('a'))
  const [first] = processes
  if (first !== undefined) first.state = 'unavailable'
  await first?.finish()
  await vi.advanceTimersByTimeAsync(1)
  expect(first?.hasEnded).toBe(true)
  await sessions.run(call('a'))
  expect(processes).toHaveLength(2)
})

test('a call of a session whose process is at a peer is passed on', async () => {
  holders.set(keyOf('a'), 'peer')
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'peer' })
  expect(passedOn).toMatchObject([{ session: 'a', server: 'own', tool: 'echo' }])
  expect(processes).toEqual([])
})

test('a call that was passed on is not passed on again', async () => {
  holders.set(keyOf('a'), 'peer')
  await expect(sessions.runSessionTool(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
})

test('a session whose supervisor is dead gets a process at this one', async () => {
  holders.set(keyOf('a'), 'peer')
  dead.add('peer')
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'us' })
  expect(processes).toMatchObject([{ session: 'a' }])
})

test('a session keeps its process through a long outage of the broker', async () => {
  await sessions.run(call('a'))
  isBrokerDown = true
  lost.get(keyOf('a'))?.abort()
  holders.clear()
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(sessions.run(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
  isBrokerDown = false
  await vi.advanceTimersByTimeAsync(1_000)
  await sessions.run(call('a'))
  expect(processes).toMatchObject([{ calls: 2, hasEnded: false }])
})

test('a process whose lease a peer has acquired is ended', async () => {
  await sessions.run(call('a'))
  holders.set(keyOf('a'), 'peer')
  lost.get(keyOf('a'))?.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(processes).toMatchObject([{ hasEnded: true }])
  expect(await sessions.run(call('a'))).toEqual({ supervisor: 'peer' })
})

test('a close waits for calls in flight, ends all processes and refuses new calls', async () => {
  await sessions.run(call('a'))
  const closed = sessions.upstreams.close({ isGraceful: true })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(processes[0]?.hasEnded).toBe(false)
  await processes[0]?.finish()
  await closed
  expect(processes[0]?.hasEnded).toBe(true)
  expect(holders.size).toBe(0)
  await expect(sessions.run(call('a'))).rejects.toMatchObject({ code: 'unavailable' })
})

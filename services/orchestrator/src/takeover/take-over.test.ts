import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TakeOver } from './take-over.ts'

interface Announcement {
  readonly orchestrator: string
  readonly jobs: readonly string[]
}

/** Subscribers of announcements, and the announcements that were sent. */
let listeners: Set<(announcement: Announcement) => void>
let announcements: Announcement[]
/** Jobs that were handed back, with the orchestrator that did so. */
let handedBack: string[]
let takenOver: number
let sinceOutageMs: number
/** Orchestrators that answer probes. */
let answering: Set<string>
/** Orchestrators that were probed. */
let probed: string[]
/** Jobs of the orchestrators, by id. */
let jobs: Map<string, string[]>
let stack: AsyncDisposableStack

beforeEach(() => {
  vi.useFakeTimers()
  listeners = new Set()
  announcements = []
  handedBack = []
  takenOver = 0
  sinceOutageMs = Infinity
  answering = new Set()
  probed = []
  jobs = new Map()
  stack = new AsyncDisposableStack()
})
afterEach(async () => {
  await stack.disposeAsync()
  vi.useRealTimers()
})

/** Starts an orchestrator with jobs. */
function start(id: string, ...held: string[]): { die(): void; end(): Promise<void> } {
  let isAlive = true
  jobs.set(id, held)
  answering.add(id)
  const bus = {
    id,
    emit: (_contract: unknown, _params: unknown, announcement: Announcement) =>
      isAlive && announce(announcement),
    listen: (
      _contract: unknown,
      _params: unknown,
      handler: (announcement: Announcement) => void,
    ) => {
      const listener = (announcement: Announcement): void => void (isAlive && handler(announcement))
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    sinceOutageMs: () => sinceOutageMs,
    sessions: { handBack: (job: string) => isAlive && handedBack.push(`${job} by ${id}`) },
    // TakeOver uses only these members of the bus, and `warn` of the logger.
  } as unknown as Bus
  const logger = { warn: () => undefined } as unknown as Logger
  const events = { jobsTakenOver: (count: number) => void (takenOver += isAlive ? count : 0) }
  const inputs = { held: () => jobs.get(id) ?? [] }
  const takeOver = stack.use(
    new TakeOver({
      bus,
      logger,
      inputs,
      events,
      isAlive: async (orchestrator) => {
        if (isAlive) probed.push(orchestrator)
        return answering.has(orchestrator)
      },
    }),
  )
  return {
    die() {
      isAlive = false
      answering.delete(id)
    },
    end: () => takeOver[Symbol.asyncDispose](),
  }
}

function announce(announcement: Announcement): void {
  announcements.push(announcement)
  for (const listener of listeners) listener(announcement)
}

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('the jobs of a dead orchestrator are handed back once, by the first peer, within two seconds', async () => {
  const dying = start('b', 'job 1', 'job 2')
  start('c', 'job 3')
  start('a')
  start('d')
  await advance(5_000)
  expect(handedBack).toEqual([])
  dying.die()
  await advance(2_000)
  expect(handedBack).toEqual(['job 1 by a', 'job 2 by a'])
  expect(takenOver).toBe(2)
  await advance(10_000)
  expect(handedBack).toHaveLength(2)
})

test('the jobs of a silent orchestrator that answers probes are not handed back', async () => {
  start('a')
  announce({ orchestrator: 'b', jobs: ['job'] })
  answering.add('b')
  await advance(5_000)
  expect(handedBack).toEqual([])
  // Probes are sent less often than ticks.
  expect(probed.length).toBeLessThanOrEqual(5)
})

test('an orchestrator that announces itself during its probe is alive', async () => {
  start('a')
  announce({ orchestrator: 'b', jobs: ['job'] })
  answering.has = () => {
    announce({ orchestrator: 'b', jobs: ['job', 'more'] })
    return false
  }
  await advance(1_500)
  expect(probed).toEqual(['b'])
  expect(handedBack).toEqual([])
})

test('the next peer hands jobs back when the first one has died, too', async () => {
  const first = start('a', 'job 1')
  const second = start('b', 'job 2')
  start('c')
  await advance(3_000)
  first.die()
  second.die()
  await advance(3_000)
  expect(handedBack.toSorted()).toEqual(['job 1 by c', 'job 2 by c'])
})

test('a dead orchestrator without jobs does not delay the others', async () => {
  const first = start('a')
  const second = start('b', 'job 2')
  start('c')
  await advance(3_000)
  first.die()
  second.die()
  await advance(3_000)
  expect(handedBack).toEqual(['job 2 by c'])
})

test('a silent orchestrator is not dead just after an outage of the broker', async () => {
  const dying = start('b', 'job')
  start('a')
  await advance(1_000)
  dying.die()
  sinceOutageMs = 0
  await advance(2_500)
  expect(handedBack).toEqual([])
  sinceOutageMs = 2_500
  await advance(1_500)
  expect(handedBack).toEqual(['job by a'])
})

test('an orchestrator does not probe itself, even without its own announcements', async () => {
  start('a', 'job')
  await advance(500)
  listeners.clear()
  await advance(5_000)
  expect(probed).toEqual([])
  expect(handedBack).toEqual([])
})

test('an orchestrator that stopped is not probed', async () => {
  const leaving = start('b', 'job')
  start('a')
  await advance(1_000)
  await leaving.end()
  answering.delete('b')
  await advance(5_000)
  expect(probed).toEqual([])
  expect(handedBack).toEqual([])
})

test('jobs are announced within 250 ms of a change, twice a second, and once a second without jobs', async () => {
  start('a')
  await advance(1_000)
  announcements = []
  await advance(10_000)
  expect(announcements).toHaveLength(10)
  jobs.set('a', ['job'])
  await advance(250)
  expect(announcements.at(-1)?.jobs).toEqual(['job'])
  announcements = []
  await advance(10_000)
  expect(announcements).toHaveLength(20)
})

test('only the oldest jobs are announced when not all fit into a message', async () => {
  const held = Array.from({ length: 20_000 }, (_, index) => `job ${index}`)
  start('a', ...held)
  await advance(1_000)
  expect(announcements.at(-1)?.jobs).toEqual(held.slice(0, 5_000))
})

test('a disposed take-over announces no jobs and leaves no timer or listener', async () => {
  const ending = start('a', 'job')
  await ending.end()
  expect(announcements.at(-1)?.jobs).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  expect(listeners.size).toBe(0)
})

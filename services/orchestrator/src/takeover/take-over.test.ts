import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TakeOver } from './take-over.ts'

interface News {
  readonly orchestrator: string
  readonly jobs: readonly string[]
}

/** Who hears what is told on the bus, and what each told. */
let listeners: Set<(news: News) => void>
let told: News[]
/** The jobs that were handed back, and by whom. */
let handedBack: string[]
let takenOver: number
let sinceOutageMs: number
/** Who answers when asked. */
let answering: Set<string>
let asked: string[]
/** The jobs of each orchestrator that runs. */
let jobs: Map<string, string[]>
let stack: AsyncDisposableStack

beforeEach(() => {
  vi.useFakeTimers()
  listeners = new Set()
  told = []
  handedBack = []
  takenOver = 0
  sinceOutageMs = Infinity
  answering = new Set()
  asked = []
  jobs = new Map()
  stack = new AsyncDisposableStack()
})
afterEach(async () => {
  await stack.disposeAsync()
  vi.useRealTimers()
})

/** An orchestrator with jobs. */
function start(id: string, ...held: string[]): { die(): void; end(): Promise<void> } {
  let isAlive = true
  jobs.set(id, held)
  answering.add(id)
  const bus = {
    id,
    emit: (_contract: unknown, _params: unknown, news: News) => isAlive && say(news),
    listen: (_contract: unknown, _params: unknown, given: (news: News) => void) => {
      const listener = (news: News): void => void (isAlive && given(news))
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    sinceOutageMs: () => sinceOutageMs,
    sessions: { handBack: (job: string) => isAlive && handedBack.push(`${job} by ${id}`) },
    // Of the bus it uses no more than this, and of the logger only warn.
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
        if (isAlive) asked.push(orchestrator)
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

function say(news: News): void {
  told.push(news)
  for (const listener of listeners) listener(news)
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('the jobs of one that dies are handed back within two seconds, once, by the first of the others', async () => {
  const dying = start('b', 'job 1', 'job 2')
  start('c', 'job 3')
  start('a')
  start('d')
  await pass(5_000)
  expect(handedBack).toEqual([])
  dying.die()
  await pass(2_000)
  expect(handedBack).toEqual(['job 1 by a', 'job 2 by a'])
  expect(takenOver).toBe(2)
  await pass(10_000)
  expect(handedBack).toHaveLength(2)
})

test('one that is silent and answers is left alone', async () => {
  start('a')
  say({ orchestrator: 'b', jobs: ['job'] })
  answering.add('b')
  await pass(5_000)
  expect(handedBack).toEqual([])
  // Not with every tick.
  expect(asked.length).toBeLessThanOrEqual(5)
})

test('one that is heard while it is asked is alive', async () => {
  start('a')
  say({ orchestrator: 'b', jobs: ['job'] })
  answering.has = () => {
    say({ orchestrator: 'b', jobs: ['job', 'more'] })
    return false
  }
  await pass(1_500)
  expect(asked).toEqual(['b'])
  expect(handedBack).toEqual([])
})

test('when the one whose turn it is has died as well the next does it', async () => {
  const first = start('a', 'job 1')
  const second = start('b', 'job 2')
  start('c')
  await pass(3_000)
  first.die()
  second.die()
  await pass(3_000)
  expect(handedBack.toSorted()).toEqual(['job 1 by c', 'job 2 by c'])
})

test('one that was idle when it died does not hold up the others', async () => {
  const first = start('a')
  const second = start('b', 'job 2')
  start('c')
  await pass(3_000)
  first.die()
  second.die()
  await pass(3_000)
  expect(handedBack).toEqual(['job 2 by c'])
})

test('after an outage of the broker silence means nothing for a while', async () => {
  const dying = start('b', 'job')
  start('a')
  await pass(1_000)
  dying.die()
  sinceOutageMs = 0
  await pass(2_500)
  expect(handedBack).toEqual([])
  sinceOutageMs = 2_500
  await pass(1_500)
  expect(handedBack).toEqual(['job by a'])
})

test('one does not look after itself, also when its own news do not come back', async () => {
  start('a', 'job')
  await pass(500)
  listeners.clear()
  await pass(5_000)
  expect(asked).toEqual([])
  expect(handedBack).toEqual([])
})

test('who says goodbye is forgotten', async () => {
  const leaving = start('b', 'job')
  start('a')
  await pass(1_000)
  await leaving.end()
  answering.delete('b')
  await pass(5_000)
  expect(asked).toEqual([])
  expect(handedBack).toEqual([])
})

test('jobs are told within 250 ms of a change, else twice a second, and seldom when there are none', async () => {
  start('a')
  await pass(1_000)
  told = []
  await pass(10_000)
  expect(told).toHaveLength(10)
  jobs.set('a', ['job'])
  await pass(250)
  expect(told.at(-1)?.jobs).toEqual(['job'])
  told = []
  await pass(10_000)
  expect(told).toHaveLength(20)
})

test('of more jobs than fit a message the oldest are told', async () => {
  const held = Array.from({ length: 20_000 }, (_, index) => `job ${index}`)
  start('a', ...held)
  await pass(1_000)
  expect(told.at(-1)?.jobs).toEqual(held.slice(0, 5_000))
})

test('nothing goes on when it has ended', async () => {
  const ending = start('a', 'job')
  await ending.end()
  expect(told.at(-1)?.jobs).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  expect(listeners.size).toBe(0)
})

import type { GuardedProcess, ProcessExit } from '@mcp-host/process'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Kept } from './keep-running.ts'
import { keepRunning } from './keep-running.ts'
import type { Health } from './watch-health.ts'

/** A process, as far as a keeper sees it. */
class FakeProcess {
  readonly name: string
  answer: () => Promise<Health | undefined> = async () => ({ isStopping: false })
  readonly health = (): Promise<Health | undefined> => this.answer()
  readonly #gone = Promise.withResolvers<ProcessExit>()
  readonly process: GuardedProcess

  constructor(name: string) {
    this.name = name
    const signal = (sent: NodeJS.Signals): boolean => {
      events.push(`${name} ${sent}`)
      if (sent === 'SIGKILL') this.end(null, 'SIGKILL')
      return true
    }
    // A keeper uses nothing else of it.
    this.process = { pid: 1, gone: this.#gone.promise, signal } as unknown as GuardedProcess
  }

  end(code: number | null = 1, signal: NodeJS.Signals | null = null): void {
    this.#gone.resolve({ code, signal })
  }

  /** Finishes what it has in hand when it is told to. */
  async stop(): Promise<void> {
    events.push(`${this.name} stops`)
    await this.#gone.promise
  }
}

let events: string[]
let processes: FakeProcess[]
let startFails: boolean
let kept: Kept<FakeProcess>

async function start(): Promise<FakeProcess> {
  if (startFails) throw new Error('does not start')
  const started = new FakeProcess(`p${processes.length}`)
  processes.push(started)
  events.push(`${started.name} starts`)
  return started
}

async function keep(canOverlap = true): Promise<void> {
  kept = await keepRunning({
    name: 'service',
    start,
    canOverlap,
    onRestart: ({ name }) => events.push(`${name} works`),
    say: (_, what) => events.push(what),
  })
}

const [told, replaced] = ['was told to stop, starting its successor', 'runs again']

beforeEach(() => {
  vi.useFakeTimers()
  events = []
  processes = []
  startFails = false
})
afterEach(async () => {
  const over = kept[Symbol.asyncDispose]()
  for (const each of processes) each.end(0)
  await over
  vi.useRealTimers()
})

test('a process that ends is started again after a pause', async () => {
  await keep()
  processes[0]?.end()
  await vi.advanceTimersByTimeAsync(1_000)
  const ended = 'ended (exit code 1), starting it again'
  expect(events).toEqual(['p0 starts', ended, 'p1 starts', replaced, 'p1 works'])
})

test('a process that is told to stop goes on until its successor works', async () => {
  await keep()
  const [first] = processes
  if (first !== undefined) first.answer = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(events).toEqual(['p0 starts', told, 'p1 starts', replaced, 'p1 works', 'p0 stops'])
  // However long it takes with what it has in hand.
  await vi.advanceTimersByTimeAsync(60_000)
  expect(events).toHaveLength(6)
})

test('a process goes on while its successor does not start', async () => {
  await keep()
  startFails = true
  const [first] = processes
  if (first !== undefined) first.answer = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(3_000)
  expect(events).not.toContain('p0 stops')
  startFails = false
  await vi.advanceTimersByTimeAsync(10_000)
  expect(events.slice(-4)).toEqual(['p1 starts', replaced, 'p1 works', 'p0 stops'])
})

test('a process that cannot share with its successor stops first', async () => {
  await keep(false)
  const [first] = processes
  if (first !== undefined) first.answer = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(events).toEqual(['p0 starts', told, 'p0 stops', 'p1 starts', replaced, 'p1 works'])
})

test('a frozen process is replaced, and it is said why', async () => {
  await keep()
  const [first] = processes
  if (first !== undefined) first.answer = () => new Promise(() => undefined)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(events).toEqual([
    'p0 starts',
    'process 1 does not answer /health, SIGTERM sent',
    'p0 SIGTERM',
    'process 1 does not answer SIGTERM either, SIGKILL sent',
    'p0 SIGKILL',
    'ended (SIGKILL), starting it again',
    'p1 starts',
    replaced,
    'p1 works',
  ])
})

test('all are stopped at the end, also those that have a successor', async () => {
  await keep()
  const [first] = processes
  if (first !== undefined) first.answer = async () => ({ isStopping: true })
  await vi.advanceTimersByTimeAsync(2_000)
  let isOver = false
  const over = kept[Symbol.asyncDispose]().then(() => {
    isOver = true
  })
  processes[1]?.end(0)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isOver).toBe(false)
  first?.end(0)
  await over
})

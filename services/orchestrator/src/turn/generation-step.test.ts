import type { Generation } from '@mcp-host/contracts'
import { BusError, emptySession, generationId } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { envelope, session } from '../context/__fixtures__/facts.ts'
import { watchGeneration } from './generation-step.ts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'

let waits: number[]
let pings: number
/** What is left of a worker's last word. */
let fresh: number[]
beforeEach(() => {
  vi.useFakeTimers()
  waits = []
  pings = 0
  fresh = []
})
afterEach(() => void vi.useRealTimers())

const generation = { id: generationId(session, 1) } as Generation

/** Nothing comes into the log meanwhile, and no worker answers. */
async function watch(): Promise<unknown> {
  // Here and below only what watching uses.
  const deps = {
    bus: {
      async call() {
        pings++
        throw new BusError('unavailable', 'nobody answers')
      },
      sessions: { lastSequence: async () => 0 },
    },
    heard: { freshMs: () => fresh.shift() ?? 0 },
  } as unknown as TurnDeps
  const view = { state: emptySession(), change: async (ms: number) => void waits.push(ms) }
  const outcome = watchGeneration(
    deps,
    { session, view, envelope } as unknown as ClaimedTurn,
    generation,
  )
  await vi.runAllTimersAsync()
  return outcome
}

test('nobody is asked after a generation while its worker says that it runs', async () => {
  fresh = [300, 500]
  expect(await watch()).toBe('news')
  expect([waits, pings]).toEqual([[300], 0])
})

test('one whose worker fell silent is asked for, and dead when nobody answers twice', async () => {
  fresh = [300]
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[300], 2])
})

test('one that was never heard of is given the time to be', async () => {
  expect(await watch()).toBe('dead')
  expect([waits, pings]).toEqual([[1_000], 2])
})

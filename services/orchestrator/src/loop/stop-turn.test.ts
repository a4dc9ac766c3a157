import type { Bus } from '@mcp-host/bus'
import type { GenerationId, GenerationResult, ToolFinished } from '@mcp-host/contracts'
import type { Generation, ToolCall, Turn } from '@mcp-host/session-state'
import { BusError, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { emptySession } from '@mcp-host/session-state'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SessionView } from '../turn/session-view.ts'
import { stopTurn } from './stop-turn.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

const session = emptySession()
session.inputs.set(1, { id: 'm', text: 't', seq: 1, time: 0, envelope: newEnvelope('local') })
let cancels: string[]
let settled: { message: string; outcome: string }[]
/** Runs when a generation or call is cancelled. */
let onCancel: (subject: string) => void
/** Delays of cancels as the metrics count them, in seconds. */
let reached: number[]
beforeEach(() => {
  vi.useFakeTimers()
  cancels = []
  settled = []
  reached = []
  onCancel = () => undefined
  const input = session.inputs.get(1)
  if (input !== undefined) input.cancelledAt = Date.now() - 40
})
afterEach(() => void vi.useRealTimers())

const bus: Pick<Bus, 'call' | 'clock'> = {
  clock: { now: () => Date.now(), offsetMs: () => 0, state: () => 'right' as const },
  async call(contract, params) {
    const subject = contract.subject.replace(/\{(\w+)\}/, (_, name: string) =>
      String((params as Record<string, string>)[name]),
    )
    cancels.push(subject)
    onCancel(subject)
    // stopTurn does not read the reply.
    return {} as never
  },
}
const deps = {
  bus,
  events: { cancelReached: (s: number) => reached.push(s) },
  // stopTurn uses only these members.
} as unknown as TurnDeps

const view: Pick<SessionView, 'state' | 'change'> = {
  state: session,
  change: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20))),
}
const turn = {
  session: 's',
  input: 1,
  view,
  envelope: newEnvelope('local'),
  writer: {
    append: async (fact: { message: string; outcome: string }) => void settled.push(fact),
    folded: async () => undefined,
  },
  // stopTurn uses only these members.
} as unknown as ClaimedTurn

const id = 's-0' as GenerationId

function generation(more: Partial<Generation> = {}): Generation {
  return {
    id,
    turn: 1,
    startedAt: 0,
    endedAt: 0,
    isVoid: false,
    resultSeq: 0,
    calls: new Map(),
    ...more,
  }
}

const written: GenerationResult = {
  generation: id,
  outcome: 'completed',
  content: [],
  provider: 'p',
  model: 'm',
}

function call(index: number, attempt: number): ToolCall {
  const block = { type: 'tool-call' as const, id: toolCallId(id, index), name: 'n', arguments: {} }
  return { block, attempt, starts: [] }
}

function withCalls(...calls: ToolCall[]): Generation {
  return generation({ result: written, calls: new Map(calls.map((each) => [each.block.id, each])) })
}

async function stop(...generations: Generation[]): Promise<number> {
  const before = Date.now()
  // stopTurn reads only the generations.
  const stopped = stopTurn(deps, turn, { generations } as unknown as Turn, 'it took too long')
  await vi.runAllTimersAsync()
  await stopped
  return Date.now() - before
}

test('a running generation is cancelled and its result awaited', async () => {
  const one = generation()
  onCancel = () => void setTimeout(() => (one.result = { ...written, outcome: 'cancelled' }), 100)
  expect(await stop(one)).toBeLessThan(200)
  expect(cancels).toEqual(['gen.s-0.ctl'])
  expect(reached).toEqual([0.04])
})

test('the result of a silent worker is awaited for a limited time', async () => {
  const took = await stop(generation())
  expect(took).toBeGreaterThan(1_000)
  expect(took).toBeLessThan(3_000)
})

test('the result of an absent worker is not awaited', async () => {
  onCancel = () => {
    throw new BusError('unavailable', 'nobody')
  }
  expect(await stop(generation())).toBeLessThan(1_000)
  expect(reached).toEqual([])
})

test('a cancel is retried until the worker serves it', async () => {
  const one = generation()
  onCancel = () => {
    if (cancels.length < 3) throw new BusError('unavailable', 'nobody yet')
    one.result = written
  }
  await stop(one)
  expect(cancels).toHaveLength(3)
})

test('running calls are cancelled, and those without a result settled', async () => {
  const [one, two] = [call(0, 1), call(1, 0)]
  onCancel = (subject) => {
    if (subject.includes('s-0-1')) throw new BusError('unavailable', 'nobody')
    one.result = { type: 'tool-finished', outcome: 'ok' } as ToolFinished
  }
  await stop(withCalls(one, two))
  expect(new Set(cancels)).toEqual(new Set(['call.s-0-0.ctl', 'call.s-0-1.ctl']))
  expect(settled).toMatchObject([
    { call: 's-0-1', outcome: 'cancelled', message: 'not run: it took too long.' },
  ])
})

test('a started call is settled with the reason and a note that it may have taken effect', async () => {
  await stop(withCalls(call(0, 1)))
  expect(settled).toMatchObject([
    {
      outcome: 'cancelled',
      message: 'stopped while it ran: it took too long. Whether it took effect is not known.',
    },
  ])
})

test('calls of a generation that completes during its cancel are settled', async () => {
  const calls = new Map<string, ToolCall>()
  const one = generation({ calls: calls as Generation['calls'] })
  onCancel = () => {
    const late = call(0, 0)
    calls.set(late.block.id, late)
    one.result = written
  }
  await stop(one)
  expect(settled).toMatchObject([{ call: 's-0-0', outcome: 'cancelled' }])
})

test('a turn with nothing in flight is stopped at once and not measured', async () => {
  expect(await stop()).toBe(0)
  expect(await stop(generation({ result: written }))).toBe(0)
  expect(cancels).toEqual([])
  expect(reached).toEqual([])
})

import { setImmediate as nextTick } from 'node:timers/promises'
import type { CallOptions } from '@mcp-host/bus'
import type {
  Generation,
  GenerationId,
  SessionId,
  ToolCall,
  ToolFinished,
} from '@mcp-host/contracts'
import {
  BusError,
  callControl,
  emptySession,
  newEnvelope,
  runTool,
  supervisorControl,
  toolCallId,
} from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isOpen } from './decide.ts'
import { ToolRuns } from './tool-step.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

const generation: Generation = {
  id: 'session-0' as GenerationId,
  turn: 1,
  startedAt: 0,
  endedAt: 0,
  isVoid: false,
  resultSeq: 4,
  calls: new Map(),
}

function call(index: number, server: string): ToolCall {
  const id = toolCallId(generation.id, index)
  const block = { type: 'tool-call' as const, id, name: 'n', server, tool: 't', arguments: {} }
  return { block, attempt: 0, starts: [] }
}

const state = emptySession()
/** Runs whenever somebody looks for news. */
let onLook: () => void
/** Runs whenever a supervisor takes a call. */
let onRun: () => void
let asked: { subject: string; options: CallOptions }[]
/** What supervisors answer, by server. */
let refusals: Record<string, BusError>
let settled: string[]
let outcomes: string[]
let isRepeatable: boolean
let logged: object[]
/** Whether the supervisor with the call still works on it. */
let isAlive: () => boolean
/** Runs whenever it is asked after a call or a supervisor; throws where that is frozen. */
let onProbe: () => void
let isSupervisorAlive: boolean
let outageMs: number
let settle: () => Promise<void>
beforeEach(() => {
  onLook = () => undefined
  onRun = () => undefined
  asked = []
  refusals = {}
  settled = []
  outcomes = []
  logged = []
  isRepeatable = false
  isAlive = () => true
  onProbe = () => undefined
  isSupervisorAlive = true
  outageMs = Infinity
  settle = async () => undefined
})

afterEach(() => void vi.useRealTimers())

const deps = {
  logger: { warn: (fields: object) => logged.push(fields) },
  bus: {
    sinceOutageMs: () => outageMs,
    sessions: { lastSequence: async () => state.seq },
    async call(contract: { subject: string }, { server = '' }, _: unknown, options: CallOptions) {
      asked.push({ subject: contract.subject, options })
      if (refusals[server] !== undefined) throw refusals[server]
      if (contract.subject !== runTool.subject) onProbe()
      if (contract.subject === callControl.subject && !isAlive()) {
        throw new BusError('unavailable', 'nobody')
      }
      if (contract.subject === supervisorControl.subject && !isSupervisorAlive) {
        throw new BusError('unavailable', 'nobody')
      }
      if (contract.subject === runTool.subject) onRun()
      return { supervisor: 's1' }
    },
  },
  tools: {
    isRepeatable: () => isRepeatable,
    isConfigured: (server: string) => server !== 'removed',
  },
} as unknown as TurnDeps

const over = new AbortController()

const turn = {
  cancelled: over.signal,
  leaving: over.signal,
  over: over.signal,
  session: 'session' as SessionId,
  envelope: newEnvelope('local'),
  view: {
    state,
    async change() {
      onLook()
      await nextTick()
    },
  },
  writer: {
    append: async (fact: { message: string; outcome: string }) => {
      settled.push(fact.message)
      outcomes.push(fact.outcome)
      await settle()
    },
    folded: async () => undefined,
  },
} as unknown as ClaimedTurn

function finish(open: ToolCall): void {
  open.result = { type: 'tool-finished', outcome: 'ok' } as ToolFinished
}

async function run(...calls: readonly ToolCall[]): Promise<void> {
  const runs = new ToolRuns(deps, turn)
  runs.start(generation, calls)
  await runs.ended()
  // Throws what went wrong.
  runs.start(generation, [])
}

test('a call is over with its result', async () => {
  const one = call(0, 'good')
  onLook = () => finish(one)
  await run(one)
  expect(isOpen(one)).toBe(false)
  expect(settled).toEqual([])
})

test('a call that no supervisor accepts is closed with the reason', async () => {
  const one = call(0, 'bad')
  refusals['bad'] = new BusError('invalid', 'not like this')
  await run(one)
  expect(settled).toEqual(['not like this'])
  const told = { server: 'bad', attempt: 0, recovery: 'tell-model', reason: 'not like this' }
  expect(logged).toEqual([expect.objectContaining({ ...told, sessionId: 'session' })])
})

test('a call of a server that was removed from the configuration is closed at once', async () => {
  refusals['removed'] = new BusError('unavailable', 'nobody answers')
  await run(call(0, 'removed'))
  expect(asked).toHaveLength(1)
  expect(settled).toEqual(['there is no tool "t": the MCP server "removed" was removed'])
})

test('a supervisor must take a call at once or not at all', async () => {
  // One that was frozen ran calls that had been settled without it, once it was thawed.
  const one = call(0, 'good')
  onLook = () => finish(one)
  const before = Date.now()
  await run(one)
  const [request] = asked
  expect(request?.subject).toBe('tool.{server}.run')
  const { timeoutMs = 0, envelope } = request?.options ?? {}
  expect(envelope?.deadline).toBeGreaterThanOrEqual(before + timeoutMs)
  expect(envelope?.deadline).toBeLessThanOrEqual(Date.now() + timeoutMs)
})

test('when one call cannot be closed the others are waited for before the turn is left', async () => {
  // Else they were watched for ever: nobody reads the log for them any more.
  const [bad, slow] = [call(0, 'bad'), call(1, 'good')]
  refusals['bad'] = new BusError('invalid', 'no')
  settle = async () => {
    throw new BusError('conflict', 'passed by another writer')
  }
  let looks = 0
  onLook = () => {
    if (++looks === 20) finish(slow)
  }
  await expect(run(bad, slow)).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(isOpen(slow)).toBe(false)
})

test('a call that is under way is not begun once more', async () => {
  const one = call(0, 'good')
  let looks = 0
  onLook = () => {
    if (++looks === 10) finish(one)
  }
  const runs = new ToolRuns(deps, turn)
  runs.start(generation, [one])
  runs.start(generation, [one])
  await runs.ended()
  expect(asked.filter(({ subject }) => subject === 'tool.{server}.run')).toHaveLength(1)
})

const runs = (): number => asked.filter(({ subject }) => subject === runTool.subject).length

/** A call that a supervisor has begun, which dies after so long. */
function begun(afterMs: number): ToolCall {
  vi.useFakeTimers({ toFake: ['Date'] })
  const one = call(0, 'good')
  one.attempt = 1
  let looks = 0
  onLook = () => {
    if (++looks === 2) vi.setSystemTime(Date.now() + afterMs)
  }
  isAlive = () => looks < 2
  return one
}

test('a call that may be repeated is run again however long its supervisor had been at work', async () => {
  isRepeatable = true
  const one = begun(60_000)
  onRun = () => finish(one)
  await run(one)
  expect([runs(), settled]).toEqual([1, []])
})

test.each<[string, () => void]>([
  ['is not taken by anybody', () => void (refusals['good'] = new BusError('invalid', 'gone'))],
  ['dies with its supervisor', () => undefined],
])('a repeated call that %s may have taken effect, and the model is told', async (_, prepare) => {
  isRepeatable = true
  const one = begun(0)
  prepare()
  onRun = () => one.attempt++
  await run(one)
  expect(outcomes).toEqual(['unknown'])
  expect(settled).toEqual([expect.stringContaining('Whether it took effect is not known')])
})

test('a call that nobody begins for long is refused', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const one = call(0, 'good')
  isAlive = () => false
  onRun = () => vi.setSystemTime(Date.now() + 11_000)
  await run(one)
  expect([runs(), outcomes]).toEqual([2, ['refused']])
})

/** A repeatable call whose supervisor is frozen for so many looks. */
function frozen(looks: number, lookMs: number): ToolCall {
  isRepeatable = true
  const one = begun(0)
  const nonce = 'n'
  one.starts.push({ type: 'tool-started', call: one.block.id, attempt: 1, supervisor: 's1', nonce })
  let asks = 0
  onLook = () => vi.setSystemTime(Date.now() + lookMs)
  onProbe = () => {
    if (asks++ < looks * 2) throw new BusError('deadline', 'no answer')
  }
  return one
}

test('a call whose supervisor is frozen for a while has the result that comes late', async () => {
  const one = frozen(2, 1_000)
  isAlive = () => {
    finish(one)
    return true
  }
  await run(one)
  expect([runs(), settled]).toEqual([0, []])
})

test('a call whose supervisor stops answering is not made at the next, be it repeatable', async () => {
  await run(frozen(Infinity, 4_000))
  expect([runs(), outcomes]).toEqual([0, ['unknown']])
  expect(settled).toEqual([expect.stringContaining('stopped answering')])
})

test('a call whose supervisor was killed while it was frozen is not made at the next', async () => {
  const one = frozen(1, 1_000)
  isAlive = () => false
  isSupervisorAlive = false
  await run(one)
  expect([runs(), outcomes]).toEqual([0, ['unknown']])
})

test('a call that a supervisor dropped after it was frozen is run again', async () => {
  const one = frozen(1, 1_000)
  isAlive = () => false
  onRun = () => finish(one)
  await run(one)
  expect([runs(), settled]).toEqual([1, []])
})

test('no supervisor is taken for dead right after an outage of the broker', async () => {
  const one = begun(0)
  outageMs = 0
  isAlive = () => false
  let looks = 0
  onLook = () => {
    if (++looks === 2) finish(one)
  }
  await run(one)
  expect(settled).toEqual([])
})

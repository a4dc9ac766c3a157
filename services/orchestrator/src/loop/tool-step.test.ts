import { setImmediate as nextTick } from 'node:timers/promises'
import type { CallOptions } from '@mcp-host/bus'
import type { GenerationId, SessionId, ToolFinished } from '@mcp-host/contracts'
import type { Generation, ToolCall } from '@mcp-host/session-state'
import {
  BusError,
  callControl,
  newEnvelope,
  runTool,
  supervisorControl,
  toolCallId,
} from '@mcp-host/contracts'
import { emptySession } from '@mcp-host/session-state'
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
/** Runs before each wait for a change of the session. */
let onChange: () => void
/** Runs when a supervisor accepts a call. */
let onRun: () => void
/** Requests on the bus. */
let requests: { subject: string; options: CallOptions }[]
/** Refusals of supervisors, by server. */
let refusals: Record<string, BusError>
let settled: string[]
let outcomes: string[]
let paused: string[]
let overLimit: string | undefined
let isRepeatable: boolean
let logged: object[]
/** Whether the supervisor of the call still runs it. */
let isAlive: () => boolean
/** Runs at each probe of a call or supervisor; throws if the supervisor is frozen. */
let onProbe: () => void
let isSupervisorAlive: boolean
let outageMs: number
/** The time that the broker takes for an answer. */
let brokerMs: number
/** The time by `performance.now()`. */
let nowMs: number
/** Runs after a call was settled. */
let settle: () => Promise<void>
beforeEach(() => {
  onChange = () => undefined
  onRun = () => undefined
  overLimit = undefined
  requests = []
  refusals = {}
  settled = []
  outcomes = []
  paused = []
  logged = []
  isRepeatable = false
  isAlive = () => true
  onProbe = () => undefined
  isSupervisorAlive = true
  outageMs = Infinity
  brokerMs = 0
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  settle = async () => undefined
})

afterEach(() => void vi.restoreAllMocks())

/** Lets time pass. */
function pass(ms: number): void {
  nowMs += ms
}

const deps = {
  logger: { warn: (fields: object) => logged.push(fields) },
  bus: {
    sinceOutageMs: () => outageMs,
    sessions: {
      async lastSequence() {
        pass(brokerMs)
        return state.seq
      },
    },
    async call(contract: { subject: string }, { server = '' }, _: unknown, options: CallOptions) {
      requests.push({ subject: contract.subject, options })
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
  policy: { refusalOf: async () => overLimit },
  pauseServer: (server: string) => paused.push(server),
  // ToolRuns uses only these members.
} as unknown as TurnDeps

const never = new AbortController()

const turn = {
  cancelled: never.signal,
  leaving: never.signal,
  over: never.signal,
  session: 'session' as SessionId,
  envelope: newEnvelope('local'),
  view: {
    state,
    async change() {
      onChange()
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
  // ToolRuns uses only these members.
} as unknown as ClaimedTurn

/** Gives a call its result. */
function finish(open: ToolCall): void {
  open.result = { type: 'tool-finished', outcome: 'ok' } as ToolFinished
}

async function run(...calls: readonly ToolCall[]): Promise<void> {
  const runs = new ToolRuns(deps, turn)
  runs.start(generation, calls)
  await runs.ended()
  // Rethrows the error of an ended run.
  runs.start(generation, [])
}

test('a run ends with the result of its call', async () => {
  const one = call(0, 'good')
  onChange = () => finish(one)
  await run(one)
  expect(isOpen(one)).toBe(false)
  expect(settled).toEqual([])
})

test('a call that no supervisor accepts is settled with the reason', async () => {
  const one = call(0, 'bad')
  refusals['bad'] = new BusError('invalid', 'not like this')
  await run(one)
  expect(settled).toEqual(['not like this'])
  const fields = { server: 'bad', attempt: 0, recovery: 'tell-model', reason: 'not like this' }
  expect(logged).toEqual([expect.objectContaining({ ...fields, sessionId: 'session' })])
})

test('a call of a server that was removed from the configuration is settled at once', async () => {
  refusals['removed'] = new BusError('unavailable', 'nobody answers')
  await run(call(0, 'removed'))
  expect(requests).toHaveLength(1)
  expect(settled).toEqual(['there is no tool "t": the MCP server "removed" was removed'])
})

test('the request to run a call expires', async () => {
  // A supervisor that thaws must not run calls that were settled while it was frozen.
  const one = call(0, 'good')
  onChange = () => finish(one)
  await run(one)
  expect(requests[0]).toMatchObject({ subject: 'tool.{server}.run', options: { expires: true } })
})

test('a call that arrived too late at its supervisor is reported as not run', async () => {
  refusals = {
    get late() {
      pass(6_000)
      return new BusError('unavailable', 'the request came too late and was not begun')
    },
  }
  await run(call(0, 'late'))
  expect(outcomes).toEqual(['refused'])
})

test('a run whose settlement fails waits for its other calls', async () => {
  // Otherwise the watches of those calls would never end.
  const [bad, slow] = [call(0, 'bad'), call(1, 'good')]
  refusals['bad'] = new BusError('invalid', 'no')
  settle = async () => {
    throw new BusError('conflict', 'passed by another writer')
  }
  let changes = 0
  onChange = () => {
    if (++changes === 20) finish(slow)
  }
  await expect(run(bad, slow)).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(isOpen(slow)).toBe(false)
})

test('a call over the limit of its principal is refused, and reaches no server', async () => {
  overLimit = 'Too many requests: try again later'
  await run(call(0, 'good'))
  expect(settled).toEqual([overLimit])
  expect(requests).toEqual([])
})

test('a call in flight is not started again', async () => {
  const one = call(0, 'good')
  let changes = 0
  onChange = () => {
    if (++changes === 10) finish(one)
  }
  const runs = new ToolRuns(deps, turn)
  runs.start(generation, [one])
  runs.start(generation, [one])
  await runs.ended()
  expect(requests.filter(({ subject }) => subject === 'tool.{server}.run')).toHaveLength(1)
})

const runs = (): number => requests.filter(({ subject }) => subject === runTool.subject).length

/** A call whose supervisor has started it and dies after `afterMs`. */
function startedCall(afterMs: number): ToolCall {
  const one = call(0, 'good')
  one.attempt = 1
  let changes = 0
  onChange = () => {
    if (++changes === 2) pass(afterMs)
  }
  isAlive = () => changes < 2
  return one
}

test('a repeatable call whose supervisor dies is retried, also after a long run', async () => {
  isRepeatable = true
  const one = startedCall(60_000)
  onRun = () => finish(one)
  await run(one)
  expect([runs(), settled, paused]).toEqual([1, [], []])
})

test('a repeatable call with which a second supervisor dies is settled as unknown, and pauses its server', async () => {
  isRepeatable = true
  const one = startedCall(0)
  onRun = () => one.attempt++
  await run(one)
  expect([runs(), outcomes]).toEqual([1, ['unknown']])
  expect(settled).toEqual([expect.stringContaining('died, and so did the one that repeated it')])
  expect(paused).toEqual(['good'])
})

test('a retried call that is accepted by no supervisor is settled as unknown', async () => {
  isRepeatable = true
  const one = startedCall(0)
  refusals['good'] = new BusError('invalid', 'gone')
  await run(one)
  expect(outcomes).toEqual(['unknown'])
  expect(settled).toEqual([expect.stringContaining('Whether it took effect is not known')])
})

test('a call that no supervisor starts in time is refused', async () => {
  const one = call(0, 'good')
  isAlive = () => false
  onRun = () => pass(11_000)
  await run(one)
  expect([runs(), outcomes]).toEqual([2, ['refused']])
})

/** A repeatable call whose supervisor is frozen for a number of probes. */
function frozenCall(probes: number, probeMs: number): ToolCall {
  isRepeatable = true
  const one = startedCall(0)
  const nonce = 'n'
  one.starts.push({ type: 'tool-started', call: one.block.id, attempt: 1, supervisor: 's1', nonce })
  let probed = 0
  onChange = () => pass(probeMs)
  onProbe = () => {
    if (probed++ < probes * 2) throw new BusError('deadline', 'no answer')
  }
  return one
}

test('a call whose supervisor thaws keeps its late result', async () => {
  const one = frozenCall(2, 1_000)
  isAlive = () => {
    finish(one)
    return true
  }
  await run(one)
  expect([runs(), settled]).toEqual([0, []])
})

test('a repeatable call whose supervisor stays frozen is settled as unknown, not retried', async () => {
  await run(frozenCall(Infinity, 4_000))
  expect([runs(), outcomes]).toEqual([0, ['unknown']])
  expect(settled).toEqual([expect.stringContaining('stopped answering')])
})

test('a call whose supervisor was killed while frozen is settled as unknown, not retried', async () => {
  const one = frozenCall(1, 1_000)
  isAlive = () => false
  isSupervisorAlive = false
  await run(one)
  expect([runs(), outcomes]).toEqual([0, ['unknown']])
})

test('a frozen supervisor that an outage of the broker cut off may thaw and finish', async () => {
  const one = frozenCall(1, 6_000)
  isAlive = () => false
  isSupervisorAlive = false
  onChange = () => {
    pass(6_000)
    if (nowMs > 12_000) finish(one)
  }
  await run(one)
  expect([runs(), settled]).toEqual([0, []])
})

test('the silence of a supervisor does not count while the broker answers nobody', async () => {
  const one = frozenCall(Infinity, 1_000)
  brokerMs = 4_000
  onChange = () => {
    pass(1_000)
    if (nowMs > 30_000) finish(one)
  }
  await run(one)
  expect(settled).toEqual([])
})

test('a call that no supervisor began is asked for again after a silence', async () => {
  const one = frozenCall(Infinity, 6_000)
  one.attempt = 0
  one.starts.splice(0)
  onRun = () => {
    if (runs() === 2) finish(one)
  }
  await run(one)
  expect([runs(), settled]).toEqual([2, []])
})

test('a call that a thawed supervisor has dropped is retried', async () => {
  const one = frozenCall(1, 1_000)
  isAlive = () => false
  onRun = () => finish(one)
  await run(one)
  expect([runs(), settled]).toEqual([1, []])
})

test('a silent supervisor is not dead just after an outage of the broker', async () => {
  const one = startedCall(0)
  outageMs = 0
  isAlive = () => false
  let changes = 0
  onChange = () => {
    if (++changes === 2) finish(one)
  }
  await run(one)
  expect(settled).toEqual([])
})

test('a call that its user stops is left to the turn, whether it runs, waits for a server or has died', async () => {
  const [running, waiting, dead] = [call(0, 'a'), call(1, 'away'), { ...call(2, 'a'), attempt: 1 }]
  refusals = { away: new BusError('unavailable', 'nobody') }
  onChange = () => {
    for (const each of [running, waiting, dead]) each.cancelledAt = 1
    isAlive = () => false
  }
  await run(running, waiting, dead)
  expect(settled).toEqual([])
})

import { setImmediate as nextTick } from 'node:timers/promises'
import type { CallOptions } from '@mcp-host/bus'
import type {
  Generation,
  GenerationId,
  SessionId,
  ToolCall,
  ToolFinished,
} from '@mcp-host/contracts'
import { BusError, emptySession, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import { isOpen } from './decide.ts'
import { runTools } from './tool-step.ts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'

const generation: Generation = {
  id: 'session-0' as GenerationId,
  isVoid: false,
  resultSeq: 4,
  calls: new Map(),
}

function call(index: number, server: string): ToolCall {
  const id = toolCallId(generation.id, index)
  const block = { type: 'tool-call' as const, id, name: 'n', server, tool: 't', arguments: {} }
  return { block, attempt: 0 }
}

const state = emptySession()
/** Runs whenever somebody looks for news. */
let onLook: () => void
let asked: { subject: string; options: CallOptions }[]
/** What supervisors answer, by server. */
let refusals: Record<string, BusError>
let settled: string[]
let settle: () => Promise<void>
beforeEach(() => {
  onLook = () => undefined
  asked = []
  refusals = {}
  settled = []
  settle = async () => undefined
})

const deps = {
  bus: {
    async call(contract: { subject: string }, { server = '' }, _: unknown, options: CallOptions) {
      asked.push({ subject: contract.subject, options })
      if (refusals[server] !== undefined) throw refusals[server]
      return { supervisor: 's1' }
    },
  },
  tools: { isRepeatable: () => false },
} as unknown as TurnDeps

const turn = {
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
    append: async (fact: { message: string }) => {
      settled.push(fact.message)
      await settle()
    },
    folded: async () => undefined,
  },
} as unknown as ClaimedTurn

function finish(open: ToolCall): void {
  open.result = { type: 'tool-finished', outcome: 'ok' } as ToolFinished
}

test('a call is over with its result', async () => {
  const one = call(0, 'good')
  onLook = () => finish(one)
  await runTools(deps, turn, generation, [one])
  expect(isOpen(one)).toBe(false)
  expect(settled).toEqual([])
})

test('a call that no supervisor accepts is closed with the reason', async () => {
  const one = call(0, 'bad')
  refusals['bad'] = new BusError('invalid', 'not like this')
  await runTools(deps, turn, generation, [one])
  expect(settled).toEqual(['not like this'])
})

test('a supervisor must take a call at once or not at all', async () => {
  // One that was frozen ran calls that had been settled without it, once it was thawed.
  const one = call(0, 'good')
  onLook = () => finish(one)
  const before = Date.now()
  await runTools(deps, turn, generation, [one])
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
  await expect(runTools(deps, turn, generation, [bad, slow])).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(isOpen(slow)).toBe(false)
})

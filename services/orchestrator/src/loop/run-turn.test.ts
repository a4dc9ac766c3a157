import type { LogFact } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { BusError, generationControl } from '@mcp-host/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  append,
  call,
  claim,
  envelope,
  fold,
  input,
  result,
  session,
  text,
} from '../context/__fixtures__/facts.ts'
import { turnMessages } from '../sessions/turn-messages.ts'
import type { TurnEnd } from './run-turn.ts'
import { runTurn } from './run-turn.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import type { TurnFact } from '../turn/turn-writer.ts'

let state: SessionState
/** Appended facts and requests on the bus, in order. */
let steps: string[]
let written: TurnFact[]
/** Answers a request to cancel. */
let onCancel: () => void
/** Whether the principal is in order, at each check. */
let inOrder: () => boolean
beforeEach(() => {
  steps = []
  written = []
  onCancel = () => undefined
  inOrder = () => true
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

const quiet = (): void => undefined
const deps = {
  bus: {
    id: 'o',
    clock: { now: () => Date.now() },
    sessions: { lostRanges: [] },
    async call({ subject }: { subject: string }, _: unknown, { action }: { action: string }) {
      steps.push(`${subject} ${action}`)
      onCancel()
    },
  },
  tools: { missing: () => [] },
  principals: { isInOrder: async () => inOrder() },
  limits: { maxToolCalls: 5, maxTurnMs: 1_000, maxTurnTokens: 0 },
  logger: { info: quiet },
  events: { turnDone: quiet, cancelReached: quiet },
  note: quiet,
  chargeTokens: quiet,
  // runTurn uses only these members.
} as unknown as TurnDeps

/** Claims the only turn of a log and runs it to its end. */
async function run(facts: readonly LogFact[], epoch = 1): Promise<TurnEnd> {
  state = fold(...facts)
  const never = new AbortController().signal
  const turn = {
    session,
    input: 1,
    messageId: 'm',
    epoch,
    envelope,
    view: {
      state,
      change: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    writer: {
      append: async (fact: TurnFact) => {
        steps.push(fact.type)
        written.push(fact)
        append(state, { kind: 'turn', fact: { ...fact, turn: 1, seen: 0 } })
      },
      folded: async () => undefined,
    },
    cancelled: never,
    leaving: never,
    over: never,
    // runTurn uses only these members.
  } as unknown as ClaimedTurn
  const end = runTurn(deps, turn)
  // A rejection is handled by the caller, after the timers have run.
  end.catch(() => undefined)
  await vi.runAllTimersAsync()
  return end
}

const position = { branches: [], checkpoint: undefined }
const message = input('m', 'do it')
const cancel: LogFact = { kind: 'control', fact: { type: 'cancel-requested', messageId: 'm' } }

test('a turn that was claimed too often without progress fails, after its generation is cancelled', async () => {
  onCancel = () => append(state, result(0, [text('so far')], { outcome: 'cancelled' }))
  const claims = Array.from({ length: 4 }, () => claim(1))
  expect(await run([message, claim(1, 0), ...claims])).toEqual({ state: 'done' })
  expect(steps).toEqual(['turn-claimed', `${generationControl.subject} cancel`, 'turn-done'])
  expect(written.at(-1)).toMatchObject({
    outcome: 'failed',
    error: { code: 'internal' },
    // The blank line separates the message from the partial text.
    message: expect.stringMatching(/^\n\nI could not answer this: it broke off again and again\./),
  })
})

test('a message whose principal is not in order any more reaches no model', async () => {
  inOrder = () => false
  expect(await run([message])).toEqual({ state: 'done' })
  expect(steps).toEqual(['turn-claimed', 'turn-done'])
  expect(written[0]).not.toHaveProperty('generation')
  expect(written[1]).toMatchObject({ outcome: 'failed', error: { code: 'denied' } })
})

test('a turn whose principal is not in order any more stops the work in flight', async () => {
  onCancel = () => append(state, result(0, [text('so far')], { outcome: 'cancelled' }))
  inOrder = () => false
  expect(await run([message, claim(1, 0)], 2)).toEqual({ state: 'done' })
  expect(steps).toEqual(['turn-claimed', `${generationControl.subject} cancel`, 'turn-done'])
  expect(written[1]).toMatchObject({ outcome: 'failed', error: { code: 'denied' } })
})

test('a turn that ends without the result of its generation voids it', async () => {
  onCancel = () => {
    throw new BusError('unavailable', 'the worker died')
  }
  await run([message, claim(1, 0), cancel])
  expect(written.at(-1)).toMatchObject({
    type: 'turn-done',
    outcome: 'cancelled',
    voids: `${session}-0`,
  })
  const [turn] = state.turns.values()
  const before = turnMessages(state.inputs.get(1)!, turn, position)
  append(state, result(0, [text('late')]))
  expect(turnMessages(state.inputs.get(1)!, turn, position)).toEqual(before)
})

test.each<[string, readonly LogFact[], string]>([
  ['took too long', [], 'not run: the turn was stopped after 1 s, the limit for one turn.'],
  ['was cancelled', [cancel], 'not run: the user stopped the turn.'],
])('the open calls of a turn that %s are settled with the reason', async (_, end, reason) => {
  await run([message, claim(1, 0), result(0, [call(0)]), ...end])
  expect(written).toMatchObject([{}, { type: 'tool-settled', message: reason }, {}])
})

test('a turn that another orchestrator has claimed is not changed', async () => {
  const claims = Array.from({ length: 4 }, () => claim(1))
  const outcome = run([message, claim(1, 0), ...claims], 7)
  // A claim after the one of this orchestrator.
  append(state, claim(1))
  await expect(outcome).rejects.toBeInstanceOf(BusError)
  expect(steps).toEqual(['turn-claimed'])
})

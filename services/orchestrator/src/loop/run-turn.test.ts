import type { LogFact, SessionState } from '@mcp-host/contracts'
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
/** What was done, in order: facts written, and who was told what. */
let done: string[]
let written: TurnFact[]
/** The answer to a request to stop. */
let onCancel: () => void
beforeEach(() => {
  done = []
  written = []
  onCancel = () => undefined
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

const quiet = (): void => undefined
const deps = {
  bus: {
    id: 'o',
    sessions: { lostRanges: [] },
    async call({ subject }: { subject: string }, _: unknown, { action }: { action: string }) {
      done.push(`${subject} ${action}`)
      onCancel()
    },
  },
  tools: { missing: () => [] },
  limits: { maxToolCalls: 5, maxTurnMs: 1_000, maxTurnTokens: 0 },
  logger: { info: quiet },
  events: { turnDone: quiet, cancelReached: quiet },
  note: quiet,
} as unknown as TurnDeps

/** Claims the only turn of a log, and takes it as far as it goes. */
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
        done.push(fact.type)
        written.push(fact)
        append(state, { kind: 'turn', fact: { ...fact, turn: 1, seen: 0 } })
      },
      folded: async () => undefined,
    },
    cancelled: never,
    leaving: never,
    over: never,
  } as unknown as ClaimedTurn
  const end = runTurn(deps, turn)
  // It is awaited below, after the time has passed.
  end.catch(() => undefined)
  await vi.runAllTimersAsync()
  return end
}

const place = { branches: [], checkpoint: undefined }
const message = input('m', 'do it')
const cancel: LogFact = { kind: 'control', fact: { type: 'cancel-requested', messageId: 'm' } }

test('a turn that got nowhere again and again is given up, and what still runs is stopped before', async () => {
  onCancel = () => append(state, result(0, [text('so far')], { outcome: 'cancelled' }))
  const claims = Array.from({ length: 4 }, () => claim(1))
  expect(await run([message, claim(1, 0), ...claims])).toEqual({ state: 'done' })
  expect(done).toEqual(['turn-claimed', `${generationControl.subject} cancel`, 'turn-done'])
  expect(written.at(-1)).toMatchObject({
    outcome: 'failed',
    error: { code: 'internal' },
    // It stands below what was shown already.
    message: expect.stringMatching(/^\n\nI could not answer this: it broke off again and again\./),
  })
})

test('a turn that ends without the result of its generation takes back what that wrote', async () => {
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
  const before = turnMessages(state.inputs.get(1)!, turn, place)
  append(state, result(0, [text('late')]))
  expect(turnMessages(state.inputs.get(1)!, turn, place)).toEqual(before)
})

test.each<[string, readonly LogFact[], string]>([
  ['took too long', [], 'not run: the turn was stopped after 1 s, the limit for one turn.'],
  ['was cancelled', [cancel], 'not run: the user stopped the turn.'],
])('of a turn that %s the model is told so by the calls it had open', async (_, end, words) => {
  await run([message, claim(1, 0), result(0, [call(0)]), ...end])
  expect(written).toMatchObject([{}, { type: 'tool-settled', message: words }, {}])
})

test('a turn that somebody else has claimed meanwhile is left alone', async () => {
  const claims = Array.from({ length: 4 }, () => claim(1))
  const passed = run([message, claim(1, 0), ...claims], 7)
  // Read after ours.
  append(state, claim(1))
  await expect(passed).rejects.toBeInstanceOf(BusError)
  expect(done).toEqual(['turn-claimed'])
})

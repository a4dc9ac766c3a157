import type { SessionLog } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, emptySession, newEnvelope } from '@mcp-host/contracts'
import { beforeEach, expect, test } from 'vitest'
import type { SessionView } from './session-view.ts'
import type { TurnFact } from './turn-writer.ts'
import { TurnWriter } from './turn-writer.ts'

const claim: TurnFact = { type: 'turn-claimed', messageId: 'm', orchestrator: 'o1', epoch: 1 }
const done: TurnFact = { type: 'turn-done', outcome: 'completed' }

let writer: TurnWriter
/** The log's turn subject: who wrote each event, by sequence. */
let written: Map<number, string>
let state: ReturnType<typeof emptySession>
let isAway: boolean
beforeEach(() => {
  written = new Map()
  state = emptySession()
  isAway = false
  store('another turn')
  writer = new TurnWriter(log as SessionLog, view as SessionView, {
    session: 'session' as SessionId,
    turn: 1,
    fence: state.fence,
    envelope: newEnvelope('local'),
  })
})

const last = (): number => Math.max(0, ...written.keys())

/** Stores and lets the view read it at once. */
function store(what: string): number {
  const seq = last() + 3
  written.set(seq, what)
  state.seq = seq
  state.fence = seq
  return seq
}

const log: Pick<SessionLog, 'append'> = {
  async append(_, { fact }, { fence }) {
    if (isAway) throw new BusError('unavailable', 'away')
    if (fence !== last()) throw new BusError('conflict', 'passed by another writer')
    return { seq: store('type' in fact ? fact.type : ''), duplicate: false }
  },
}

const view: unknown = {
  get state() {
    return state
  },
  reach: async (seq: number) => expect(state.seq).toBeGreaterThanOrEqual(seq),
}

test('events are chained to the newest event, then to one another', async () => {
  await writer.append(claim)
  await Promise.all([writer.append(done), writer.append(done)])
  expect(Array.from(written.values())).toEqual([
    'another turn',
    'turn-claimed',
    'turn-done',
    'turn-done',
  ])
})

test('nothing is written once another orchestrator wrote, even when that was read already', async () => {
  // The state takes in foreign events too: chained to the newest one, an orchestrator that was frozen
  // and taken over wrote into a turn that was not its own any more.
  await writer.append(claim)
  store('a claim by another')
  await expect(writer.append(done)).rejects.toMatchObject({ code: 'conflict' })
  await expect(writer.append(done)).rejects.toMatchObject({ code: 'conflict' })
  expect(Array.from(written.values()).at(-1)).toBe('a claim by another')
})

test('nothing is written at all when somebody wrote after the turn was looked at', async () => {
  store('the end of the turn')
  await expect(writer.append(claim)).rejects.toMatchObject({ code: 'conflict' })
})

test('an event that could not be written does not hold up the next', async () => {
  isAway = true
  await expect(writer.append(claim)).rejects.toMatchObject({ code: 'unavailable' })
  isAway = false
  await writer.append(claim)
  expect(Array.from(written.values())).toEqual(['another turn', 'turn-claimed'])
})

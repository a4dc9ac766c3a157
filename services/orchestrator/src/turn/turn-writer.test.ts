import type { SessionLog } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import { emptySession } from '@mcp-host/session-state'
import { beforeEach, expect, test } from 'vitest'
import type { SessionView } from './session-view.ts'
import type { TurnFact } from './turn-writer.ts'
import { TurnWriter } from './turn-writer.ts'

const claim: TurnFact = { type: 'turn-claimed', messageId: 'm', orchestrator: 'o1', epoch: 1 }
const done: TurnFact = { type: 'turn-done', outcome: 'completed' }

let writer: TurnWriter
/** Turn events of the log, by sequence. */
let written: Map<number, string>
let state: ReturnType<typeof emptySession>
let isBrokerDown: boolean
beforeEach(() => {
  written = new Map()
  state = emptySession()
  isBrokerDown = false
  store('another turn')
  writer = new TurnWriter(log as SessionLog, view as SessionView, {
    session: 'session' as SessionId,
    turn: 1,
    fence: state.fence,
    envelope: newEnvelope('local'),
  })
})

const last = (): number => Math.max(0, ...written.keys())

/** Appends an event that the view has read at once. */
function store(event: string): number {
  const seq = last() + 3
  written.set(seq, event)
  state.seq = seq
  state.fence = seq
  return seq
}

const log: Pick<SessionLog, 'append'> = {
  async append(_, { fact }, { fence }) {
    if (isBrokerDown) throw new BusError('unavailable', 'away')
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

test('events are fenced by the latest event, then by one another', async () => {
  await writer.append(claim)
  await Promise.all([writer.append(done), writer.append(done)])
  expect(Array.from(written.values())).toEqual([
    'another turn',
    'turn-claimed',
    'turn-done',
    'turn-done',
  ])
})

test('a write after an event of another orchestrator is refused, even if that was read', async () => {
  // The state includes events of other orchestrators. Fenced by the latest of those, a thawed orchestrator
  // would write into a turn that another has taken over.
  await writer.append(claim)
  store('a claim by another')
  await expect(writer.append(done)).rejects.toMatchObject({ code: 'conflict' })
  await expect(writer.append(done)).rejects.toMatchObject({ code: 'conflict' })
  expect(Array.from(written.values()).at(-1)).toBe('a claim by another')
})

test('a first write is refused after an event that the writer has not read', async () => {
  store('the end of the turn')
  await expect(writer.append(claim)).rejects.toMatchObject({ code: 'conflict' })
})

test('a failed write does not block the next one', async () => {
  isBrokerDown = true
  await expect(writer.append(claim)).rejects.toMatchObject({ code: 'unavailable' })
  isBrokerDown = false
  await writer.append(claim)
  expect(Array.from(written.values())).toEqual(['another turn', 'turn-claimed'])
})

import { expect, test } from 'vitest'
import { newEnvelope } from '../envelope.ts'
import type { SessionId } from '../ids.ts'
import { generationId, toolCallId } from '../ids.ts'
import type { SessionState } from './fold.ts'
import { applyEntry, branchOf, emptySession, nextInput } from './fold.ts'
import type { LogEntry, LogFact } from './log-entry.ts'
import { fromSnapshot, toSnapshot } from './snapshot.ts'

const session = '0123456789abcdef' as SessionId
const envelope = newEnvelope('ann')
const big = 'x'.repeat(200_000)

/** A log of so many turns, each with a tool call, and what follows it. */
function log(turns: number, { text = 'short', open = false } = {}): LogEntry[] {
  const entries: LogEntry[] = []
  const append = (fact: LogFact): number => {
    const seq = entries.length + 1
    entries.push({ ...fact, session, envelope, seq, time: seq * 1_000 })
    return seq
  }
  let fence = 0
  const turnEvent = (fact: object): void => {
    const event = { seen: 0, ...fact } as (LogFact & { kind: 'turn' })['fact']
    fence = append({ kind: 'turn', fact: event })
  }
  for (let index = 0; index < turns; index++) {
    const turn = append({ kind: 'input', fact: { id: `m${index}`, text: `${index} ${text}` } })
    const generation = generationId(session, fence)
    turnEvent({
      type: 'turn-claimed',
      turn,
      messageId: `m${index}`,
      orchestrator: 'o',
      epoch: 1,
      generation,
    })
    const call = toolCallId(generation, 0)
    append({
      kind: 'generation',
      fact: {
        generation,
        outcome: 'completed',
        content: [
          { type: 'text', text: `answer ${index}` },
          { type: 'tool-call', id: call, name: 's__t', server: 's', tool: 't', arguments: {} },
        ],
        provider: 'p',
        model: 'm',
        usage: { outputTokens: 1 },
      },
    })
    append({
      kind: 'tool',
      fact: { type: 'tool-started', call, attempt: 1, supervisor: 's', nonce: 'n' },
    })
    if (open && index === turns - 1) break
    turnEvent({ type: 'turn-done', turn, outcome: 'completed' })
  }
  return entries
}

function fold(entries: readonly LogEntry[], state = emptySession()): SessionState {
  for (const entry of entries) applyEntry(state, entry)
  return state
}

/** As it is after it was kept and read again. */
function kept(state: SessionState): SessionState | undefined {
  const text = toSnapshot(state)
  return text === undefined ? undefined : fromSnapshot(text)
}

test('a short session is the same after it was kept, and goes on the same way', () => {
  const entries = log(6, { open: true })
  // At each place of the log the chosen model is either there or not.
  entries[4] = { ...entries[4]!, kind: 'control', fact: { type: 'model-chosen', model: 'demo' } }
  for (let cut = 1; cut < entries.length; cut++) {
    const whole = fold(entries.slice(0, cut))
    const again = kept(whole)
    expect(again).toEqual({ ...whole, snapshotEntries: cut })
    expect(again && fold(entries.slice(cut), again)).toEqual({
      ...fold(entries),
      snapshotEntries: cut,
    })
  }
})

test('of a long one what was said long ago is left out, but not its place', () => {
  const whole = fold(log(20, { text: big }))
  const again = kept(whole)
  expect(again?.prunedThrough).toBeGreaterThan(0)
  expect(JSON.stringify(toSnapshot(whole)).length).toBeLessThan(1_200_000)
  const texts = Array.from(again?.inputs.values() ?? [], ({ text }) => text.length)
  expect(texts.filter((length) => length > 0).length).toBe(5)
  expect(texts.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 0))
  expect(again && branchOf(again, again.head).map(({ id }) => id)).toEqual(
    branchOf(whole, whole.head).map(({ id }) => id),
  )
  expect(again?.turns.get(1)).toMatchObject({
    claimedSeq: 2,
    done: { seq: 5, outcome: 'completed' },
  })
  expect(again).toMatchObject({
    owner: 'ann',
    usage: whole.usage,
    fence: whole.fence,
    seq: whole.seq,
  })
})

test('what was left out once stays left out, and repeated messages are still known', () => {
  const entries = log(22, { text: big })
  const first = kept(fold(entries.slice(0, 100)))
  const again = first && kept(fold(entries.slice(100), first))
  expect(again?.prunedThrough).toBeGreaterThan(first?.prunedThrough ?? Infinity)
  const fact = { id: 'm3', text: 'again' }
  const last = entries.at(-1)
  if (again === undefined || last === undefined) throw new Error('no snapshot')
  applyEntry(again, { ...last, kind: 'input', fact, seq: 999 })
  expect(again.inputs.size).toBe(22)
})

test('what a checkpoint covers, and what stands on another branch, is left out', () => {
  const state = fold(log(6))
  const inputs = Array.from(state.inputs.values())
  const third = inputs[2]?.seq ?? 0
  state.checkpoints.set(third, { how: 'summarised', summary: 'short' })
  applyEntry(state, {
    kind: 'input',
    fact: { id: 'other', text: 'instead of the last', replaces: 'm5' },
    session,
    envelope,
    seq: 900,
    time: 0,
  })
  const again = kept(state)
  const whole = Array.from(again?.inputs.values() ?? []).filter(({ text }) => text !== '')
  expect(whole.map(({ id }) => id)).toEqual(['m3', 'm4', 'other'])
  expect(again?.checkpoints.get(third)).toEqual({ how: 'summarised', summary: 'short' })
  // Once more, with nothing lost.
  const twice = again && kept(again)
  expect(twice?.inputs).toEqual(again?.inputs)
})

test('a turn that is not done is kept whole, however large', () => {
  const again = kept(fold(log(20, { text: big, open: true })))
  expect(again && nextInput(again)).toBe(96)
  expect(again?.turns.get(96)?.generations).toHaveLength(1)
  expect(again?.calls.size).toBeGreaterThan(0)
})

test('none is made of a deleted session', () => {
  expect(toSnapshot({ ...fold(log(1)), isDeleted: true })).toBeUndefined()
})

test('none is made while a question is open, and one of another version is not read', () => {
  const state = fold(log(1, { open: true }))
  const call = toolCallId(generationId(session, 0), 0)
  const question = {
    type: 'input-required',
    call,
    attempt: 1,
    server: 's',
    tool: 't',
    id: 'q',
  } as const
  const fact = {
    ...question,
    kind: 'elicitation',
    mode: 'form',
    message: '?',
    expiresAt: 0,
  } as const
  const text = toSnapshot(state) ?? ''
  applyEntry(state, { kind: 'tool', fact, session, envelope, seq: 50, time: 0 })
  expect(toSnapshot(state)).toBeUndefined()
  expect(fromSnapshot(text.replace('"version":2', '"version":1'))).toBeUndefined()
})

import type { LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { applyEntry } from './fold.ts'
import { nextInput } from './queue.ts'
import type { SessionState } from './session-state.ts'
import { branchOf, emptySession } from './session-state.ts'
import { fromSnapshot, toSnapshot } from './snapshot.ts'

const session = '0123456789abcdef' as SessionId
const envelope = newEnvelope('ann')
const big = 'x'.repeat(200_000)

/** A log of `turns` turns, each with a tool call. */
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

/** The state after it was stored as a snapshot and restored. */
function restore(state: SessionState): SessionState | undefined {
  const text = toSnapshot(state)
  return text === undefined ? undefined : fromSnapshot(text)
}

test('a snapshot of a short session restores the same state, and the fold continues from it', () => {
  const entries = log(6, { open: true })
  // The chosen model is part of some of the snapshots below.
  entries[4] = { ...entries[4]!, kind: 'control', fact: { type: 'model-chosen', model: 'demo' } }
  for (let cut = 1; cut < entries.length; cut++) {
    const whole = fold(entries.slice(0, cut))
    const restored = restore(whole)
    expect(restored).toEqual({ ...whole, snapshotEntries: cut })
    expect(restored && fold(entries.slice(cut), restored)).toEqual({
      ...fold(entries),
      snapshotEntries: cut,
    })
  }
})

test('a snapshot of a long session leaves out old texts and keeps their branch', () => {
  const whole = fold(log(20, { text: big }))
  const restored = restore(whole)
  expect(restored?.prunedThrough).toBeGreaterThan(0)
  expect(JSON.stringify(toSnapshot(whole)).length).toBeLessThan(1_200_000)
  const texts = Array.from(restored?.inputs.values() ?? [], ({ text }) => text.length)
  expect(texts.filter((length) => length > 0).length).toBe(5)
  expect(texts.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 0))
  expect(restored && branchOf(restored, restored.head).map(({ id }) => id)).toEqual(
    branchOf(whole, whole.head).map(({ id }) => id),
  )
  expect(restored?.turns.get(1)).toMatchObject({
    claimedSeq: 2,
    done: { seq: 5, outcome: 'completed' },
  })
  expect(restored).toMatchObject({
    owner: 'ann',
    usage: whole.usage,
    fence: whole.fence,
    seq: whole.seq,
  })
})

test('texts that a snapshot left out stay left out, and repeated messages are still detected', () => {
  const entries = log(22, { text: big })
  const first = restore(fold(entries.slice(0, 100)))
  const restored = first && restore(fold(entries.slice(100), first))
  expect(restored?.prunedThrough).toBeGreaterThan(first?.prunedThrough ?? Infinity)
  const fact = { id: 'm3', text: 'repeated' }
  const last = entries.at(-1)
  if (restored === undefined || last === undefined) throw new Error('no snapshot')
  applyEntry(restored, { ...last, kind: 'input', fact, seq: 999 })
  expect(restored.inputs.size).toBe(22)
})

test('a snapshot leaves out texts before a checkpoint and on other branches', () => {
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
  const restored = restore(state)
  const whole = Array.from(restored?.inputs.values() ?? []).filter(({ text }) => text !== '')
  expect(whole.map(({ id }) => id)).toEqual(['m3', 'm4', 'other'])
  expect(restored?.checkpoints.get(third)).toEqual({ how: 'summarised', summary: 'short' })
  // A second snapshot leaves out nothing more.
  const restoredTwice = restored && restore(restored)
  expect(restoredTwice?.inputs).toEqual(restored?.inputs)
})

test('a snapshot keeps a message of files alone', () => {
  const entries = log(2)
  const blob = { key: 'k', bytes: 3, digest: 'd' }
  const attachments = [{ mimeType: 'image/png', name: 'a.png', blob }]
  const fact = { id: 'm0', text: '', attachments }
  entries[0] = { ...entries[0]!, kind: 'input', fact }
  expect(restore(fold(entries))?.inputs.get(1)).toMatchObject(fact)
})

test('a snapshot keeps an unfinished turn, however large', () => {
  const restored = restore(fold(log(20, { text: big, open: true })))
  expect(restored && nextInput(restored)).toBe(96)
  expect(restored?.turns.get(96)?.generations).toHaveLength(1)
  expect(restored?.calls.size).toBeGreaterThan(0)
})

test('a deleted session has no snapshot', () => {
  expect(toSnapshot({ ...fold(log(1)), isDeleted: true })).toBeUndefined()
})

test('a session with an open input request has no snapshot, and a snapshot of another version is not restored', () => {
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
  expect(fromSnapshot(text.replace('"version":6', '"version":5'))).toBeUndefined()
})

import type { LogEntry, LogFact, SessionId } from '@mcp-host/contracts'
import { generationId, LOG_FACTS, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { applyEntry, emptySession, fromSnapshot, toSnapshot } from '@mcp-host/session-state'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyJson, anyText } from './arbitraries.ts'

const session = 'sessionsessionsession' as SessionId
const envelope = newEnvelope('local')

// Few values of each kind, so that facts refer to each other.
const seq = fc.integer({ min: 1, max: 12 })
const messageId = fc.constantFrom('m1', 'm2', 'm3', '__proto__')
const generation = seq.map((fence) => generationId(session, fence))
const call = fc.tuple(generation, fc.nat({ max: 1 })).map(([id, index]) => toolCallId(id, index))
const question = fc.constantFrom('q1', 'q2')
const blocks = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text'), text: anyText }),
    fc.record({
      type: fc.constant('tool-call'),
      id: call,
      name: anyText,
      server: fc.constant('s'),
      tool: fc.constant('t'),
      arguments: anyJson,
    }),
  ),
  { maxLength: 3 },
)
const base = { turn: seq, seen: seq }
const about = { call, server: fc.constant('s'), tool: fc.constant('t') }

const facts: Readonly<Record<LogFact['kind'], fc.Arbitrary<unknown>>> = {
  input: fc.record(
    { id: messageId, text: anyText, replaces: messageId },
    { requiredKeys: ['id', 'text'] },
  ),
  control: fc.oneof(
    fc.record({
      type: fc.constant('input-answered'),
      id: question,
      action: fc.constantFrom('accept', 'decline'),
    }),
    fc.record({ type: fc.constant('cancel-requested'), messageId }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant('call-cancel-requested'), call }),
    fc.record({ type: fc.constant('model-chosen'), model: anyText }, { requiredKeys: ['type'] }),
    fc.constant({ type: 'session-deleted' }),
  ),
  turn: fc.oneof(
    fc.record(
      {
        type: fc.constant('turn-claimed'),
        ...base,
        messageId,
        orchestrator: fc.constant('o'),
        epoch: seq,
        generation,
      },
      { requiredKeys: ['type', 'turn', 'seen', 'messageId', 'orchestrator', 'epoch'] },
    ),
    fc.record(
      { type: fc.constant('generation-started'), ...base, generation, voids: generation },
      { requiredKeys: ['type', 'turn', 'seen', 'generation'] },
    ),
    fc.record({
      type: fc.constant('tool-settled'),
      ...base,
      ...about,
      outcome: fc.constantFrom('refused', 'unknown', 'cancelled'),
      message: anyText,
    }),
    fc.record({
      type: fc.constant('approval-required'),
      ...base,
      ...about,
      id: question,
      message: anyText,
      arguments: anyJson,
      expiresAt: seq,
    }),
    fc.record({
      type: fc.constant('turn-waiting'),
      ...base,
      for: fc.constantFrom('approval', 'owner'),
      until: seq,
    }),
    fc.record({
      type: fc.constant('context-compacted'),
      ...base,
      how: fc.constantFrom('cleared', 'summarised', 'dropped'),
      through: seq,
      tokensBefore: seq,
      tokensAfter: seq,
    }),
    fc.record(
      {
        type: fc.constant('turn-done'),
        ...base,
        outcome: fc.constantFrom('completed', 'failed'),
        voids: generation,
      },
      { requiredKeys: ['type', 'turn', 'seen', 'outcome'] },
    ),
  ),
  generation: fc.record({
    generation,
    outcome: fc.constantFrom('completed', 'cancelled'),
    content: blocks,
    provider: fc.constant('p'),
    model: fc.constant('m'),
  }),
  tool: fc.oneof(
    fc.record({
      type: fc.constant('tool-started'),
      call,
      attempt: seq,
      supervisor: fc.constant('s'),
      nonce: anyText,
    }),
    fc.record({
      type: fc.constant('tool-finished'),
      ...about,
      outcome: fc.constantFrom('ok', 'error'),
      content: fc.constant([{ type: 'text', text: 'x' }]),
      durationMs: seq,
    }),
    fc.record({
      type: fc.constant('input-required'),
      ...about,
      attempt: seq,
      id: question,
      kind: fc.constant('elicitation'),
      mode: fc.constant('form'),
      message: anyText,
      expiresAt: seq,
    }),
    fc.record({
      type: fc.constant('input-closed'),
      call,
      id: question,
      reason: fc.constantFrom('expired', 'cancelled'),
    }),
  ),
}

const fact = fc
  .constantFrom(...(Object.keys(facts) as LogFact['kind'][]))
  .chain((kind) => facts[kind].map((value) => ({ kind, fact: value })))

/** Any facts in any order, including orders that the services never write. */
const log = fc.array(fact, { maxLength: 30 }).map((all) =>
  all.flatMap(({ kind, fact: value }, index): LogEntry[] => {
    const parsed = LOG_FACTS[kind].payload.safeParse(value)
    if (!parsed.success) return []
    const at = { session, seq: index + 1, time: index + 1, envelope }
    // The kind decides the type of the fact, which TypeScript cannot infer through the table.
    return [{ kind, fact: parsed.data, ...at } as LogEntry]
  }),
)

test('any log is folded, and folding it again changes nothing', () => {
  fc.assert(
    fc.property(log, (entries) => {
      const state = emptySession()
      for (const entry of entries) applyEntry(state, entry)
      const once = structuredClone(state)
      for (const entry of entries) applyEntry(state, entry)
      expect(state).toEqual(once)
      for (const unfinished of state.unfinished) expect(state.inputs.has(unfinished)).toBe(true)
    }),
  )
})

test('folding a log from a snapshot results in the same turns, inputs and fence', () => {
  fc.assert(
    fc.property(log, fc.nat({ max: 30 }), (all, at) => {
      // Snapshots rely on the order that a turn is claimed after its message.
      const entries = all.filter(({ kind, fact: event, seq: own }) =>
        kind === 'turn'
          ? all.some((each) => each.kind === 'input' && each.seq === event.turn && each.seq < own)
          : true,
      )
      const whole = emptySession()
      const partial = emptySession()
      for (const entry of entries) applyEntry(whole, entry)
      for (const entry of entries.slice(0, at)) applyEntry(partial, entry)
      const text = toSnapshot(partial)
      fc.pre(text !== undefined)
      const restored = fromSnapshot(text)
      if (restored === undefined) throw new Error('the snapshot was not read')
      for (const entry of entries.slice(at)) applyEntry(restored, entry)
      expect(restored.seq).toBe(whole.seq)
      expect(restored.fence).toBe(whole.fence)
      expect(restored.head).toBe(whole.head)
      expect(Array.from(restored.inputs.keys())).toEqual(Array.from(whole.inputs.keys()))
      for (const input of whole.inputs.keys()) {
        expect(restored.turns.get(input)?.done?.outcome).toBe(whole.turns.get(input)?.done?.outcome)
      }
    }),
  )
})

import type { LogEntry } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { events, log, plan } from './__fixtures__/good-run.ts'
import type { SessionRecord } from './check-session.ts'
import { checkSession } from './check-session.ts'
import { turnsOfLog } from './turns-of-log.ts'
import { StreamCheck } from './stream-check.ts'

const plans = new Map([[plan.id, plan]])

function streamOf(some = events): StreamCheck {
  const stream = new StreamCheck('s0', plans)
  for (const event of some) stream.take(event)
  return stream
}

function broken(record: Partial<SessionRecord>): string[] {
  const good = { name: 's0', plans, accepted: new Set([plan.id]), streams: [streamOf()], log }
  return checkSession({ ...good, ...record }).map(({ rule }) => rule)
}

/** The log with some fields of the fact at a sequence changed. */
function logWith(seq: number, changed: object): readonly LogEntry[] {
  return log.map((entry) =>
    entry.seq === seq ? ({ ...entry, fact: { ...entry.fact, ...changed } } as LogEntry) : entry,
  )
}

const logWithout = (...seqs: number[]): LogEntry[] => log.filter(({ seq }) => !seqs.includes(seq))

test('a run whose stream, log and plan agree breaks no rule', () => {
  expect(broken({})).toEqual([])
})

test('entries that reach the log too late are ignored', () => {
  const late = [
    { ...log[0], seq: 12 },
    { ...log[4], seq: 13, fact: { ...log[4]!.fact, outcome: 'error' } },
    { ...log[8], seq: 14, fact: { ...log[8]!.fact, content: [] } },
    { ...log[8], seq: 15, fact: { ...log[8]!.fact, generation: 'g8' } },
  ] as LogEntry[]
  expect(broken({ log: [...log, ...late] })).toEqual([])
})

test('a turn that ended without the result of its generation has none of its text', () => {
  const cutLog = logWithout(10).map((entry) =>
    entry.kind === 'turn' && entry.fact.type === 'turn-done'
      ? { ...entry, fact: { ...entry.fact, voids: 'g9', outcome: 'cancelled' } }
      : entry,
  ) as LogEntry[]
  const late = { ...log[8], seq: 12 } as LogEntry
  const reset = { type: 'reset', id: '11.1.9.0', payload: { message: '' } } as const
  const done = {
    type: 'turn',
    id: '11.2.-.0',
    payload: { ...events.at(-1)!.payload, outcome: 'cancelled' },
  }
  const seen = [...events.slice(0, -1), reset, done as (typeof events)[number]]
  expect(broken({ log: [...cutLog, late], streams: [streamOf(seen)] })).toEqual([])
  const kept = [...events.slice(0, -1), done as (typeof events)[number]]
  expect(broken({ log: [...cutLog, late], streams: [streamOf(kept)] })).toEqual([
    'stream is not the log',
  ])
})

test.each([
  ['error', ['tool outcome']],
  ['cancelled', []],
  ['unknown', []],
])('a call of a cancelled turn may not end as an error: %s', (outcome, rules) => {
  const seen = events.map((event) => {
    const isResult =
      event.type === 'tool' && event.payload.state === 'result' && event.id === '7.1.2.8'
    const isEnd = event.type === 'turn' && event.payload.state === 'done'
    if (!isResult && !isEnd) return event
    return { ...event, payload: { ...event.payload, outcome: isEnd ? 'cancelled' : outcome } }
  }) as typeof events
  const about = {
    error: { outcome: 'error' },
    cancelled: { outcome: 'error', error: { code: 'cancelled', message: '' } },
    unknown: { outcome: 'error', isOutcomeUnknown: true },
  }[outcome]
  const ended = logWith(7, about ?? {}).map((entry) =>
    entry.seq === 11 ? { ...entry, fact: { ...entry.fact, outcome: 'cancelled' } } : entry,
  ) as LogEntry[]
  expect(broken({ log: ended, streams: [streamOf(seen)] })).toEqual(rules)
})

test.each([
  [{ error: { code: 'cancelled', message: '' } }, 'cancelled'],
  [{ isOutcomeUnknown: true }, 'unknown'],
])('a result with %j is seen as %s', (about, outcome) => {
  const [turn] = turnsOfLog(logWith(7, { outcome: 'error', ...about })).values()
  expect(Array.from(turn?.calls.values() ?? [], (call) => call.outcome)).toContain(outcome)
})

test('a generation that replaces one with a result is ignored, unless it has a reason', () => {
  const anew = (reason: object): LogEntry[] => {
    const fact = { type: 'generation-started', turn: 1, seen: 9, generation: 'g11', voids: 'g9' }
    const started = { ...log[8], seq: 11, kind: 'turn', fact: { ...fact, ...reason } }
    return [...logWithout(11), started, { ...log[9], seq: 12 }] as LogEntry[]
  }
  expect(broken({ log: anew({}) })).toEqual([])
  expect(broken({ log: anew({ reason: 'it failed' }) })).toContain('stream is not the log')
})

test('the outcome of a `mark` whose process died may be unknown, that of a `look` may not', () => {
  const unknown = { type: 'tool-settled', outcome: 'unknown' }
  const seen = (index: number): typeof events =>
    events.with(index, {
      ...events[index]!,
      payload: { ...events[index]!.payload, outcome: 'unknown' },
    } as (typeof events)[number])
  const settled = (seq: number): readonly LogEntry[] =>
    logWith(seq, unknown).map((each) =>
      each.seq === seq ? { ...each, kind: 'turn' } : each,
    ) as LogEntry[]
  expect(broken({ log: settled(7), streams: [streamOf(seen(9))] })).toEqual([])
  expect(broken({ log: settled(6), streams: [streamOf(seen(8))] })).toEqual(['tool outcome'])
})

test.each<[string, Partial<SessionRecord>, string[]]>([
  ['a message was not accepted', { accepted: new Set<string>() }, ['not accepted']],
  ['an accepted message is not in the log', { log: [] }, ['lost']],
  ['a message was not shown', { streams: [streamOf(events.slice(1))] }, ['user event']],
  [
    'a turn did not end for the client',
    { streams: [streamOf(events.slice(0, -1))] },
    ['turn did not end'],
  ],
  ['a turn did not end in the log', { log: logWithout(11) }, ['turn did not end']],
  [
    'the client has less text than the log',
    { streams: [streamOf(events.toSpliced(13, 1))] },
    ['stream is not the log'],
  ],
  [
    'the log has less text than the client',
    { log: logWith(10, { content: [] }) },
    ['stream is not the log', 'not as planned'],
  ],
  [
    'a result differs',
    { log: logWith(7, { outcome: 'error' }) },
    ['stream is not the log', 'tool outcome'],
  ],
  [
    'a result is missing in both',
    { log: logWithout(7), streams: [streamOf(events.toSpliced(9, 1))] },
    ['tool outcome'],
  ],
  [
    'both have too little text',
    {
      log: logWith(10, { content: [{ type: 'text', text: 'w0 w1 ' }] }),
      streams: [streamOf(events.toSpliced(13, 1))],
    },
    ['not as planned'],
  ],
  [
    'a generation is missing in both',
    { log: logWithout(8, 9, 10), streams: [streamOf(events.toSpliced(10, 4))] },
    ['not as planned'],
  ],
  ['a message was never sent', { plans: new Map() }, ['stray', 'stray']],
])('a violation is reported when %s', (_title, record, rules) => {
  expect(broken(record)).toEqual(rules)
})

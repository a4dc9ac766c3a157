import type { SessionEvent } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { events, plan } from './__fixtures__/good-run.ts'
import { StreamCheck } from './stream-check.ts'

function watch(stream: readonly SessionEvent[]): StreamCheck {
  const check = new StreamCheck('s0', new Map([[plan.id, plan]]))
  for (const event of stream) check.take(event)
  return check
}

/** The rules that a stream breaks. */
function broken(stream: readonly SessionEvent[]): string[] {
  return [...new Set(watch(stream).violations.map(({ rule }) => rule))].toSorted()
}

const without = (...left: number[]): SessionEvent[] =>
  events.filter((_, index) => !left.includes(index))

const withEvent = (at: number, event: unknown): SessionEvent[] =>
  events.toSpliced(at, 0, event as SessionEvent)

test('a good stream breaks no rule, and its turn is recorded', () => {
  const check = watch(events)
  expect(check.violations).toEqual([])
  expect(check.resets).toBe(1)
  expect(check.shown).toEqual(new Map([['s0-0', 1]]))
  expect(check.turns.get('s0-0')).toMatchObject({
    outcome: 'completed',
    texts: [
      { thinking: 'hm', text: 'w0 w1 ' },
      { thinking: '', text: 'w0 w1 w2 ' },
    ],
  })
})

test('a turn may end as cancelled when its user cancelled it', () => {
  const last = events.at(-1)
  const cancelled = { ...last, payload: { ...last?.payload, outcome: 'cancelled' } } as SessionEvent
  const seen = [...events.slice(0, -1), cancelled]
  expect(broken(seen)).toEqual(['outcome'])
  const check = new StreamCheck('s0', new Map([[plan.id, { ...plan, isCancelled: true }]]))
  for (const event of seen) check.take(event)
  expect(check.violations).toEqual([])
})

test('a turn is running from its first to its last event', () => {
  expect(watch(events.slice(0, 1)).running).toBeUndefined()
  expect(watch(events.slice(0, 5)).running).toBe('s0-0')
  expect(watch(events).running).toBeUndefined()
})

test('a stream that began without an id may begin within a turn', () => {
  const check = new StreamCheck('s0', new Map([[plan.id, plan]]), { isJoined: true })
  for (const event of events.slice(4)) check.take(event)
  expect([check.violations, check.running]).toEqual([[], undefined])
  check.take({ ...events[1]!, id: '12.1.-.0' })
  check.take({ ...events[6]!, id: '12.2.-.0' })
  check.take({ ...events[6]!, id: '12.3.-.0' })
  expect(check.violations).toMatchObject([{ rule: 'tools', message: plan.id }])
})

test('the places of a message are the log sequences of its events', () => {
  expect(watch(events).places).toEqual(new Map([['s0-0', new Set([1, 2, 3, 6, 7, 8, 9, 11])]]))
})

test('events of unknown types only need a valid id', () => {
  const unknown = (id: string): unknown => ({ type: 'queue', id, payload: {} })
  expect(broken(withEvent(1, unknown('1.2.-.0')))).toEqual([])
  expect(broken(withEvent(1, unknown('1.1.-.0')))).toEqual(['frame twice'])
  expect(broken(withEvent(1, unknown('0.9.-.0')))).toEqual(['order'])
})

test.each<[string, SessionEvent[], string[]]>([
  ['a frame is repeated', withEvent(5, events[4]), ['frame twice', 'text']],
  [
    'frames change places',
    [...events.slice(0, 3), ...events.slice(3, 6).toReversed()],
    ['order', 'text'],
  ],
  ['an id is not a cursor', withEvent(1, { type: 'queue', id: 'x', payload: {} }), ['order']],
  ['text is missing', without(4), ['text']],
  [
    'text is missing that is reset later',
    without(10).with(10, { ...events[10]!, type: 'text', payload: { content: 'w1 ' } }),
    ['text'],
  ],
  ['a reset is missing', without(11), ['text']],
  ['text arrives between turns', [...events, { ...events[4]!, id: '12.0.-.3' }], ['text']],
  ['a turn starts twice', [...events, { ...events[1]!, id: '12.1.-.0' }], ['turns']],
  ['a turn starts within a turn', withEvent(3, { ...events[1], id: '2.2.2.1' }), ['turns']],
  ['a turn ends twice', [...events, { ...events[14]!, id: '12.1.-.0' }], ['turns']],
  ['a call is repeated', withEvent(8, { ...events[6], id: '3.3.2.8' }), ['tools']],
  ['a result is repeated', withEvent(10, { ...events[9], id: '7.2.2.8' }), ['tools']],
  ['a result has no call', without(6), ['tools']],
  [
    'a turn fails',
    [
      ...events.slice(0, 14),
      { ...events[14]!, type: 'turn', payload: { state: 'done', outcome: 'failed' } },
    ] as SessionEvent[],
    ['outcome'],
  ],
])('a violation is reported when %s', (_title, stream, rules) => {
  expect(broken(stream)).toEqual(rules)
})

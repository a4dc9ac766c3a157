import type { SessionEvent } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { events } from './__fixtures__/good-run.ts'
import { checkTabs } from './check-tabs.ts'

const text = (id: string, content: string): SessionEvent => ({
  type: 'text',
  id,
  payload: { content },
})

test('two clients agree however their text is split into frames', () => {
  const other = events.toSpliced(4, 2, text('2.2.2.8', 'w0 w1 ')).toSpliced(9, 1)
  expect(checkTabs('s0', events, other)).toEqual([])
})

test('two clients agree in whatever order their events have fields', () => {
  const other = events.map((event) => {
    const fields = Object.entries(event.payload).toReversed()
    // The same fields with the same values.
    return { ...event, payload: Object.fromEntries(fields) } as SessionEvent
  })
  expect(checkTabs('s0', events, other)).toEqual([])
})

test.each([
  ['lacks an event', events.toSpliced(6, 1)],
  ['lacks the last event', events.slice(0, -1)],
  ['has one event more', [...events, { ...events[0]!, id: '12.1.-.0' }]],
  ['has an event at another place', events.with(8, { ...events[8]!, id: '6.2.2.8' })],
  ['has another event in its place', events.with(8, { ...events[9]!, id: events[8]!.id })],
])('a violation is reported when one client %s', (_title, other) => {
  expect(checkTabs('s0', events, other)).toHaveLength(1)
})

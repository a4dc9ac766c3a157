import type { SessionEvent } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { events } from './__fixtures__/good-run.ts'
import { checkTabs } from './check-tabs.ts'

const text = (id: string, content: string): SessionEvent => ({
  type: 'text',
  id,
  payload: { content },
})

test('two who were given the same agree, however the text was cut', () => {
  const other = events.toSpliced(4, 2, text('2.2.2.8', 'w0 w1 ')).toSpliced(9, 1)
  expect(checkTabs('s0', events, other)).toEqual([])
})

test.each([
  ['lacks an event', events.toSpliced(6, 1)],
  ['lacks the last event', events.slice(0, -1)],
  ['has one more', [...events, { ...events[0]!, id: '12.1.-.0' }]],
  ['has one at another place', events.with(8, { ...events[8]!, id: '6.2.2.8' })],
  ['has another in its place', events.with(8, { ...events[9]!, id: events[8]!.id })],
])('it shows when one %s', (_title, other) => {
  expect(checkTabs('s0', events, other)).toHaveLength(1)
})

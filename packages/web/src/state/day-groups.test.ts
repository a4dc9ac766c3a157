import { expect, test } from 'vitest'
import { dayGroupOf } from './day-groups.ts'

const at = (day: number, hour: number): number => new Date(2026, 10, day, hour).getTime()
const now = at(27, 1)

test.each([
  [at(27, 0), 'Today'],
  [at(26, 23), 'Yesterday'],
  [at(26, 0), 'Yesterday'],
  [at(25, 23), 'Last 7 days'],
  [at(20, 0), 'Last 7 days'],
  [at(19, 23), 'Older'],
] as const)('%i belongs to %s', (time, group) => {
  expect(dayGroupOf(time, now)).toBe(group)
})

const DAY_MS = 86_400_000

export type DayGroup = 'Today' | 'Yesterday' | 'Last 7 days' | 'Older'

/** The group of a time in the list of chats, by the days of the user's clock. Both in epoch milliseconds. */
export function dayGroupOf(time: number, now: number): DayGroup {
  const today = new Date(now).setHours(0, 0, 0, 0)
  if (time >= today) return 'Today'
  // A day may have 23 or 25 hours.
  const yesterday = new Date(today - DAY_MS / 2).setHours(0, 0, 0, 0)
  if (time >= yesterday) return 'Yesterday'
  const week = new Date(today - 6.5 * DAY_MS).setHours(0, 0, 0, 0)
  return time >= week ? 'Last 7 days' : 'Older'
}

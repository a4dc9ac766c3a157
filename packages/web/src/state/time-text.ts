/** The day of a time in epoch milliseconds, as 2026-11-25. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toLocaleDateString('sv')
}

/** A time in epoch milliseconds or as an ISO text, as 2026-11-25 08:00:00. */
export function timeOf(time: number | string): string {
  return new Date(time).toLocaleString('sv')
}

/** The time of day of a time in epoch milliseconds, as 08:00. */
function clockOf(epochMs: number): string {
  return timeOf(epochMs).slice(11, 16)
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long before `now` a time was, as _2 minutes ago_; of an earlier week its day and time. Both in epoch milliseconds. */
export function agoOf(time: number, now: number, style: 'long' | 'narrow' = 'long'): string {
  const passed = now - time
  if (passed < MINUTE_MS) return 'just now'
  if (passed >= 7 * DAY_MS) return `${dayOf(time)} ${clockOf(time)}`
  const words = new Intl.RelativeTimeFormat('en', { style, numeric: 'auto' })
  if (passed < HOUR_MS) return words.format(-Math.floor(passed / MINUTE_MS), 'minute')
  if (passed < DAY_MS) return words.format(-Math.floor(passed / HOUR_MS), 'hour')
  return words.format(-Math.floor(passed / DAY_MS), 'day')
}

/** Whether a time in epoch milliseconds is of this day, by the clock of the user. */
export function isToday(epochMs: number): boolean {
  return dayOf(epochMs) === dayOf(Date.now())
}

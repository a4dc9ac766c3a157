/** The day of a time in epoch milliseconds, as 2026-11-25. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toLocaleDateString('sv')
}

/** A time in epoch milliseconds or as an ISO text, as 2026-11-25 08:00:00. */
export function timeOf(time: number | string): string {
  return new Date(time).toLocaleString('sv')
}

/** The time of day of a time in epoch milliseconds, as 08:00. */
export function clockOf(epochMs: number): string {
  return timeOf(epochMs).slice(11, 16)
}

/** Whether a time in epoch milliseconds is of this day, by the clock of the user. */
export function isToday(epochMs: number): boolean {
  return dayOf(epochMs) === dayOf(Date.now())
}

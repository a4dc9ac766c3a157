import type { SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { Violation } from './violation.ts'

/** Types of events from the log, which are equal for all clients. Text may be split differently. */
const LOGGED: ReadonlySet<string> = new Set(['user', 'turn', 'tool', 'status', 'reset'])

/** Checks that two clients of one session received the same events. Their text is checked against the log elsewhere. */
export function checkTabs(
  where: string,
  one: readonly SessionEvent[],
  other: readonly SessionEvent[],
): Violation[] {
  const left = one.filter(isLogged).map(comparable)
  const right = other.filter(isLogged).map(comparable)
  const index = left.findIndex((event, at) => event !== right[at])
  if (index === -1 && left.length === right.length) return []
  const at = index === -1 ? left.length : index
  const detail = `event ${at} is ${left[at]} for one and ${right[at]} for the other`
  return [{ rule: 'tabs differ', where, detail }]
}

function isLogged({ type }: SessionEvent): boolean {
  return LOGGED.has(type)
}

function comparable({ id, type, payload }: SessionEvent): string {
  // The offset within the text may differ.
  const { seq, part } = parseCursor(id) ?? {}
  return JSON.stringify([seq, part, type, payload])
}

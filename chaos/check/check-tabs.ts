import { isDeepStrictEqual } from 'node:util'
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
  const index = left.findIndex((event, at) => !isDeepStrictEqual(event, right[at]))
  if (index === -1 && left.length === right.length) return []
  const at = index === -1 ? left.length : index
  const [first, second] = [left[at], right[at]].map((event) => JSON.stringify(event))
  const detail = `event ${at} is ${first} for one and ${second} for the other`
  return [{ rule: 'tabs differ', where, detail }]
}

function isLogged({ type }: SessionEvent): boolean {
  return LOGGED.has(type)
}

/** The order of the fields of an object may differ, since clients of HTTP put events together from theirs. */
function comparable({ id, type, payload }: SessionEvent): readonly unknown[] {
  // The offset within the text may differ.
  const { seq, part } = parseCursor(id) ?? {}
  return [seq, part, type, payload]
}

import type { SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { Violation } from './violation.ts'

/** Events that come from the log: the same for all, at the same place. Text may be cut differently. */
const LOGGED: ReadonlySet<string> = new Set(['user', 'turn', 'tool', 'status', 'reset'])

/** Whether two clients of one session were given the same events. Their text is held against the log. */
export function checkTabs(
  where: string,
  one: readonly SessionEvent[],
  other: readonly SessionEvent[],
): Violation[] {
  const left = one.filter(isLogged).map(plain)
  const right = other.filter(isLogged).map(plain)
  const index = left.findIndex((event, at) => event !== right[at])
  if (index === -1 && left.length === right.length) return []
  const at = index === -1 ? left.length : index
  const detail = `event ${at} is ${left[at]} for one and ${right[at]} for the other`
  return [{ rule: 'tabs differ', where, detail }]
}

function isLogged({ type }: SessionEvent): boolean {
  return LOGGED.has(type)
}

function plain({ id, type, payload }: SessionEvent): string {
  // How much text was seen before it may differ.
  const { seq, part } = parseCursor(id) ?? {}
  return JSON.stringify([seq, part, type, payload])
}

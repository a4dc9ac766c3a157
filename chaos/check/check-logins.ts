import type { SessionEvent } from '@mcp-host/contracts'
import { idArgument } from './observed-turn.ts'
import type { Violation } from './violation.ts'

/** The login of a user at the MCP server of users, after the last fault. */
interface UserLogin {
  /** The user, who has the name of the session. */
  readonly user: string
  readonly isUsable: boolean
}

/** A call that reached the MCP server of users. */
interface UserCall {
  readonly arguments: unknown
  /** The user of its token. */
  readonly user: string
}

interface UserStream {
  readonly name: string
  readonly events: readonly SessionEvent[]
}

/** Checks that every call had the token of its session's user. */
export function checkTokens(calls: readonly UserCall[]): Violation[] {
  return calls.flatMap(({ user, arguments: given }) => {
    const id = idArgument(given)
    if (id.startsWith(`${user}-`)) return []
    return [{ rule: 'foreign token', where: id, detail: `it had a token of ${user}` }]
  })
}

/** Checks that no login ended, and that no user was asked to log in again. */
export function checkLogins(
  logins: readonly UserLogin[],
  streams: readonly UserStream[],
): Violation[] {
  const rule = 'login lost'
  const ended = logins
    .filter(({ isUsable }) => !isUsable)
    .map(({ user }) => ({ rule, where: user, detail: 'the user has to log in again' }))
  const asked = streams.flatMap(({ name, events }) =>
    events.flatMap((event) => {
      if (event.type !== 'input' || event.payload.state !== 'required') return []
      return [{ rule, where: name, detail: `the user was asked: ${event.payload.message}` }]
    }),
  )
  return [...ended, ...asked]
}

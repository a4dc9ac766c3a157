import type { Principal, SessionId } from '@mcp-host/contracts'
import type { CheckSessionDeps } from './check-session.ts'
import { checkOwner, isAnybody } from './check-session.ts'

/**
 * The access of one connection to a session. A session without an owner may get another one than the principal of the
 * connection, so it is checked until the owner is known.
 */
export class SessionAccess {
  readonly #check: () => Promise<string | undefined>
  #isSettled: boolean
  #checking: Promise<void> | undefined

  constructor(deps: CheckSessionDeps, session: SessionId, principal: Principal, field: string) {
    this.#isSettled = isAnybody(principal)
    this.#check = () => checkOwner(deps, session, principal, field)
  }

  /** Rejects with `not-found`. `undefined`: the principal has the access for good. */
  check(): Promise<void> | undefined {
    if (this.#isSettled) return undefined
    // Callers at once share a check, so that their order is kept.
    this.#checking ??= this.#check()
      .then((owner) => void (this.#isSettled = owner !== undefined))
      .finally(() => (this.#checking = undefined))
    return this.#checking
  }
}

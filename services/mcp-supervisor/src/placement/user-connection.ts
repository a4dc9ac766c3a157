import { aborted, sleep } from '@mcp-host/async'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import type { Account } from '../logins/account.ts'
import type { AccountStore, LoginVault } from '../logins/login-vault.ts'

interface UserConnectionDeps {
  readonly vault: LoginVault
  readonly account: Account
  readonly store: AccountStore
  readonly hosted: HostedServer
  /** Ends the connection. */
  readonly end: () => Promise<void>
}

/** The time for calls in flight. Of those after a login, some may wait for the new connection. */
const GRACE_MS = { ofRenewal: 10_000, ofLogin: 1_000 }

/** Keeps the connection of a user at the login that the user has. */
export class UserConnection {
  readonly #deps: UserConnectionDeps
  /** The renewal under way. */
  #renewing: Promise<void> | undefined

  constructor(deps: UserConnectionDeps) {
    this.#deps = deps
  }

  /** Resolves when the account has a login by which it was opened. Stops waiting when the signal aborts. */
  async loggedIn(over: AbortSignal): Promise<void> {
    const { vault, account } = this.#deps
    const found = Promise.withResolvers<void>()
    const look = (): void => {
      const login = vault.known(account)
      if (login?.isUsable === true && login.demanded === undefined) found.resolve()
    }
    using _changes = vault.onChange(look)
    look()
    await Promise.race([found.promise, aborted(over)])
    if (!over.aborted) await this.follow()
  }

  /** Opens it again when the token with which it was opened ends soon. */
  async renew(): Promise<void> {
    if (!this.#deps.store.isStale) return
    this.#renewing ??= this.#open(GRACE_MS.ofRenewal).finally(() => (this.#renewing = undefined))
    await this.#renewing
  }

  /** Opens it again when the login is another one, and ends it when the login is gone. */
  follow(): Promise<void> {
    this.#renewing ??= this.#follow().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  async #follow(): Promise<void> {
    const { vault, account, store, end } = this.#deps
    // The login may change again meanwhile, and a start under way may still have the one before.
    for (;;) {
      const login = vault.known(account)
      // Without a login, a call of the user may wait for it.
      if (login === undefined) return store.loginId === undefined ? undefined : await end()
      if (!login.isUsable || login.id === store.loginId) return
      store.release()
      await this.#open(GRACE_MS.ofLogin)
      if (store.loginId === undefined) return
    }
  }

  /** Opens it again, after calls in flight with the login before have had the time to end. */
  async #open(graceMs: number): Promise<void> {
    const { hosted } = this.#deps
    if (hosted.snapshot.state === 'ready') await Promise.race([hosted.drained(), sleep(graceMs)])
    // Its state and the log have a failure.
    await hosted.restart().catch(() => undefined)
  }
}

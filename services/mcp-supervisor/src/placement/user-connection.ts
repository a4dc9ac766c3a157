import { aborted, InFlight, sleep } from '@mcp-host/async'
import type { CallStep, HostedServer } from '@mcp-host/mcp-bus/serve'
import type { Account } from '../logins/account.ts'
import type { AccountStore, LoginVault } from '../logins/login-vault.ts'

interface UserConnectionDeps {
  readonly vault: LoginVault
  readonly account: Account
  readonly store: AccountStore
  readonly hosted: () => HostedServer
  /** Whether the server is a program, which has the token of its start. */
  readonly isProgram: boolean
  /** Ends the connection. */
  readonly end: () => Promise<void>
}

/** Limits for the calls in flight before a connection is closed. */
const GRACE_MS = { beforeRenewal: 10_000, beforeOtherLogin: 1_000 }

/** Keeps the connection of a user at the login that the user has. */
export class UserConnection {
  readonly #deps: UserConnectionDeps
  /** The calls that use the connection, without those that wait for a login. */
  readonly #calls = new InFlight()
  #following: Promise<void> | undefined
  #renewing: Promise<void> | undefined

  constructor(deps: UserConnectionDeps) {
    this.#deps = deps
  }

  /** Runs each call over the connection of the present login, a program with a token that is valid for the next seconds. */
  readonly step: CallStep = (next) => async (call) => {
    await this.#following
    if (this.#deps.isProgram) await this.#renewed()
    using _running = this.#calls.begin()
    return await next(call)
  }

  /** Resolves when the account has a login by which it was opened. Stops waiting when the signal aborts. */
  readonly loggedIn = async (over: AbortSignal): Promise<void> => {
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

  /** Opens it again when the login is another one, and ends it when the login is gone. */
  follow(): Promise<void> {
    this.#following ??= (this.#renewing ?? Promise.resolve())
      .then(() => this.#follow())
      .finally(() => (this.#following = undefined))
    return this.#following
  }

  /** Resolves when the token of the connection is valid for the next seconds. */
  async #renewed(): Promise<void> {
    if (!this.#deps.store.isStale) return
    this.#renewing ??= this.#open(GRACE_MS.beforeRenewal).finally(
      () => (this.#renewing = undefined),
    )
    await this.#renewing
  }

  async #follow(): Promise<void> {
    const { vault, account, store, end } = this.#deps
    // The login may change again meanwhile, and a start under way may still have the one before.
    for (;;) {
      const login = vault.known(account)
      if (login === undefined) {
        // Without a login, a call of the user may wait for it.
        if (store.loginId === undefined) return
        await this.#idle(GRACE_MS.beforeOtherLogin)
        return end()
      }
      if (!login.isUsable || login.id === store.loginId) return
      store.release()
      await this.#open(GRACE_MS.beforeOtherLogin)
      if (store.loginId === undefined) return
    }
  }

  async #open(graceMs: number): Promise<void> {
    await this.#idle(graceMs)
    // Its state and the log have a failure.
    await this.#deps
      .hosted()
      .restart()
      .catch(() => undefined)
  }

  /** Waits for the calls in flight. */
  async #idle(limitMs: number): Promise<void> {
    await Promise.race([this.#calls.idle(), sleep(limitMs)])
  }
}

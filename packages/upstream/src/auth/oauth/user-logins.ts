import type { CompleteLogin } from './login.ts'
import type { RegistrationStore } from './registration-store.ts'

/** Keeps the login of one user at one server. It has secrets. */
export interface LoginStore {
  load(): Promise<CompleteLogin | undefined>
  /** `undefined`: the login is over. */
  save(login: CompleteLogin | undefined): Promise<void>
  /** Remembers scopes, separated by spaces, that a server demands beside those of the login. */
  needMore?(scope: string): Promise<void>
  /** Runs work that no other process may do at the same time. Default: it just runs. */
  alone?<T>(work: () => Promise<T>): Promise<T>
}

/** Signs an assertion (JWT) about a user for the authorization server that is its `audience`. */
export type AssertUser = (about: {
  readonly audience: string
  readonly clientId: string
  /** The server, as it is known there (RFC 8707). */
  readonly resource?: string | undefined
  /** Separated by spaces. */
  readonly scope?: string | undefined
}) => Promise<string>

/** How a user logs in at a server. */
export interface UserLogins {
  /** The address at which the application gets users back after a login. */
  readonly redirectUrl: string
  /** The name of the application for users. Default: `mcp-host`. */
  readonly clientName?: string
  /** The address of the application's metadata document, which replaces a registration. */
  readonly clientMetadataUrl?: string
  readonly store: LoginStore
  /** Signs an assertion about the user, for servers whose `auth` is `token-exchange`. */
  readonly assert?: AssertUser
  /** Default: each login has a registration of its own. */
  readonly registrations?: RegistrationStore
  /**
   * Sends the user to an address, and returns the one to which the browser came back. Absent: users log in elsewhere, and
   * a request without a login fails with a `LoginNeededError`.
   */
  readonly login?: (url: URL) => Promise<URL>
}

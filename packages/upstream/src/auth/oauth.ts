import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client'

import { authFetch } from './auth-fetch.ts'
import type { AuthDeps, AuthStrategy } from './auth-strategy.ts'
import type { ProtectedServer, ResourceMetadata } from './oauth/authorization-server.ts'
import { findAuthorizationServer, resourceOf } from './oauth/authorization-server.ts'
import type { Challenge } from './oauth/challenge.ts'
import { isLoginNeeded, LoginNeededError } from './oauth/login-needed-error.ts'
import type { CompleteLogin } from './oauth/login.ts'
import { clientAt, finishLogin, refreshLogin } from './oauth/login.ts'
import { configuredAddresses, describedServer, type NamedServer } from './oauth/named-server.ts'
import { isSameIssuer, type LoginWish, prepareLogin } from './oauth/prepare-login.ts'
import type { LoginStore, UserLogins } from './oauth/user-logins.ts'
import type { AccessToken, TokenRequest } from './token-source.ts'
import { EARLY, TokenSource } from './token-source.ts'

/**
 * A login of a user at the authorization server that the server names. How users log in is said here by the code of an
 * application, else by the host.
 */
export interface OAuthAuthConfig extends Partial<Omit<UserLogins, 'assert'>>, NamedServer {
  readonly type: 'oauth'
  /**
   * The URL of the authorization server. Needed with a `clientSecret`, which goes to this one alone. Default: the one that
   * the server names.
   */
  readonly issuer?: string
  /** A registration that was made beforehand. Default: the application registers itself where it can. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string
  /** Does not name the server to the authorization server (RFC 8707), which some refuse. */
  readonly omitResource?: boolean
  /** Further parameters of the login page, which some authorization servers need, as `access_type`. */
  readonly parameters?: Readonly<Record<string, string>>
  /** For distributed hosts: which of several logins of a user a call has. */
  readonly accounts?: readonly AccountRule[]
}

/** A login of a user whose token a program gets in an environment variable. */
export interface ProgramAuthConfig extends OAuthAuthConfig {
  /** The URL of the authorization server, which a program cannot name. */
  readonly issuer: string
  /** The name of the variable. */
  readonly variable: string
}

/** A choice between several logins of a user at one server. */
export interface AccountRule {
  /** The arguments of calls for which the rule counts: each must be the same. */
  readonly when: Readonly<Record<string, string | number | boolean>>
  /** The label of the login. */
  readonly label: string
}

/** The configuration, with how users log in. */
type Settled = OAuthAuthConfig & UserLogins

interface Refreshed {
  readonly login?: CompleteLogin
  /** Whether the authorization server still knows the client. */
  readonly isRegistered: boolean
}

interface WantedLogin {
  readonly server: ProtectedServer
  readonly about: ResourceMetadata | undefined
  /** What the store has. Another login there is that of another connection. */
  readonly stored: CompleteLogin | undefined
  /** An earlier login whose registration and scopes still count. */
  readonly known: CompleteLogin | undefined
}

/** Logs a user in. */
export const oauth: AuthStrategy<OAuthAuthConfig> = {
  open(config, deps, url) {
    const user = userOf(config, deps, url)
    return new TokenSource((request) => user.token(request), deps.onAsked)
  },
}

/** The environment for a program with the token of its user. Throws when the user has to log in. */
export async function environmentOf(
  config: ProgramAuthConfig,
  deps: AuthDeps,
): Promise<Record<string, string>> {
  const user = userOf(config, deps)
  const known = await user.token({ challenge: {}, isRefusal: false })
  const token = known ?? (await user.token({ challenge: {}, isRefusal: true }))
  if (token === undefined) throw new LoginNeededError()
  return { [config.variable]: token.value }
}

/** `url`: the address of the server; absent for a program. */
function userOf(config: OAuthAuthConfig, deps: AuthDeps, url?: string): LoggedInUser {
  const { redirectUrl, store, ...rest } = { ...deps.logins, ...config }
  if (redirectUrl === undefined || store === undefined) {
    throw new Error('users cannot log in at servers of this host')
  }
  return new LoggedInUser({ ...rest, redirectUrl, store }, deps, url)
}

class LoggedInUser {
  readonly #config: Settled
  readonly #onToken: AuthDeps['onToken']
  /** The address of the server; of a program, that of its authorization server. */
  readonly #url: string
  readonly #isProgram: boolean
  readonly #fetch: ReturnType<typeof authFetch>

  constructor(config: Settled, deps: AuthDeps, url: string | undefined) {
    this.#config = config
    this.#onToken = deps.onToken
    const { clientSecret } = config
    const configured = [...(url === undefined ? [] : [url]), ...configuredAddresses(config)]
    const [server = ''] = configured
    this.#url = server
    this.#isProgram = url === undefined
    this.#fetch = authFetch(deps, configured)
    if (clientSecret !== undefined) deps.onToken(clientSecret)
  }

  async token(request: TokenRequest): Promise<AccessToken | undefined> {
    let login: CompleteLogin | undefined
    try {
      login = await (request.isRefusal ? this.#afterRefusal(request) : this.#known())
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const what = isLoginNeeded(error) ? 'there is no login' : 'the login cannot be used now'
      throw new Error(`${what} at the server: ${reason}`, { cause: error })
    }
    if (login === undefined) return undefined
    const { access_token: value, refresh_token: refresh } = login.tokens
    this.#onToken(value)
    if (refresh !== undefined) this.#onToken(refresh)
    return { value, lifeMs: remainingMs(login) }
  }

  /** The login as far as it is known; its token is replaced when it has expired. */
  async #known(): Promise<CompleteLogin | undefined> {
    const known = await this.#stored()
    if (known === undefined || !isStale(known)) return known
    // Where it cannot be replaced, the refusal of the server says what to do.
    return this.#refresh(known).then(
      ({ login }) => login,
      () => undefined,
    )
  }

  /** The login in the store, unless the configuration names another authorization server by now. */
  async #stored(): Promise<CompleteLogin | undefined> {
    const { issuer, store } = this.#config
    const known = await store.load()
    const isOther =
      known !== undefined && issuer !== undefined && !isSameIssuer(issuer, known.issuer)
    return isOther ? undefined : known
  }

  #server(challenge: Challenge): ProtectedServer {
    const described = describedServer(this.#config)
    return { url: this.#url, challenge, fetchFn: this.#fetch, described }
  }

  /** Another token than the one that the server refused, if necessary by a new login. */
  async #afterRefusal({ challenge, refused }: TokenRequest): Promise<CompleteLogin> {
    const known = await this.#stored()
    if (known === undefined && this.#config.login === undefined) throw new LoginNeededError()
    const server = this.#server(challenge)
    const about = this.#isProgram ? undefined : await resourceOf(server)
    // A server may move to another authorization server, and then its tokens are good for nothing.
    const named = about?.authorization_servers ?? []
    const isLeft =
      known !== undefined &&
      named.length > 0 &&
      !named.some((each) => isSameIssuer(each, known.issuer))
    if (known !== undefined && !isLeft && challenge.isForMore !== true) {
      // Another process may have replaced the token.
      if (known.tokens.access_token !== refused && remainingMs(known) > 0) return known
      const { login, isRegistered } = await this.#refresh(known)
      if (login !== undefined) return login
      const stored = await this.#config.store.load()
      return this.#logIn({ server, about, stored, known: isRegistered ? known : undefined })
    }
    return this.#logIn({ server, about, stored: known, known: isLeft ? undefined : known })
  }

  /** Without a login in the result, the user has to log in again. Throws when the authorization server cannot be asked. */
  #refresh(known: CompleteLogin): Promise<Refreshed> {
    const { store } = this.#config
    const refresh = async (): Promise<Refreshed> => {
      // Another process may have been first, and authorization servers take a refresh token only once.
      const latest = await store.load()
      if (latest === undefined) return { isRegistered: true }
      const isOwn = latest.tokens.access_token === known.tokens.access_token
      return isOwn ? this.#refreshNow(known) : { login: latest, isRegistered: true }
    }
    return inTurn(store, () => (store.alone === undefined ? refresh() : store.alone(refresh)))
  }

  async #refreshNow(known: CompleteLogin): Promise<Refreshed> {
    const { refresh_token: refreshToken } = known.tokens
    const { store } = this.#config
    if (refreshToken === undefined) {
      // A server may refuse a token for a moment.
      if (remainingMs(known) <= 0) await store.save(undefined)
      return { isRegistered: true }
    }
    try {
      const server = this.#server({})
      const isAtServer = known.issuer === new URL('/', this.#url).href
      const at = await findAuthorizationServer(server, isAtServer ? [] : [known.issuer])
      const { client: me } = wishOf(this.#config)
      const client =
        me.registered === undefined ? known.client : await clientAt(at, me, this.#fetch)
      const refreshed = await refreshLogin(at, { ...known, client }, refreshToken, this.#fetch)
      await store.save(refreshed)
      return { login: refreshed, isRegistered: true }
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      // A registration from the configuration is mended there.
      const isUnregistered =
        UNREGISTERED.has(error.code) && wishOf(this.#config).client.registered === undefined
      if (!isUnregistered && !ENDED.test(error.code)) throw error
      // Another process may have been faster, although it should not.
      const latest = await store.load()
      const isOther =
        latest !== undefined && latest.tokens.access_token !== known.tokens.access_token
      if (isOther) return { login: latest, isRegistered: true }
      if (isUnregistered) await this.#config.registrations?.save(known.issuer, undefined)
      await store.save(undefined)
      return { isRegistered: !isUnregistered }
    }
  }

  /** Logs the user in, once for all connections that share the store. */
  #logIn(wanted: WantedLogin): Promise<CompleteLogin> {
    const { store } = this.#config
    const before = wanted.stored?.tokens.access_token
    return inTurn(store, async () => {
      const latest = await store.load()
      const isNew = latest !== undefined && latest.tokens.access_token !== before
      return isNew ? latest : this.#logInNow(wanted)
    })
  }

  async #logInNow({ server, about, known }: WantedLogin): Promise<CompleteLogin> {
    const { store, login } = this.#config
    if (login === undefined) {
      if (server.challenge.isForMore === true) await store.needMore?.(server.challenge.scope ?? '')
      throw new LoginNeededError()
    }
    const wish = wishOf(this.#config)
    const { at, url, pending } = await prepareLogin(server, about, wish, known)
    if (server.challenge.isForMore === true && known?.scope === pending.scope) {
      throw new Error(`it asks for the scopes that it has got: ${pending.scope}`)
    }
    const complete = await finishLogin(at, pending, await login(url), this.#fetch)
    await store.save(complete)
    return complete
  }
}

/**
 * Errors that say that a login is over: `invalid_grant` of the standard, and what some have in its place. After any
 * other, which may come from a proxy, too, the login is as good as before.
 */
const ENDED = /^invalid_grant$|refresh_token|token_(expired|revoked)$/
/** Errors that say that the registration is gone. */
const UNREGISTERED: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
])

/** The work that changes what a store has, one after the other. */
const turns = new WeakMap<LoginStore, Promise<unknown>>()

function inTurn<T>(store: LoginStore, work: () => Promise<T>): Promise<T> {
  const done = (turns.get(store) ?? Promise.resolve()).then(work)
  turns.set(
    store,
    done.catch(() => undefined),
  )
  return done
}

/** Whether the token of a login ends so soon that it is replaced before its next use, where that is possible. */
export function isStale(login: CompleteLogin): boolean {
  if (login.tokens.refresh_token === undefined) return remainingMs(login) <= 0
  const earlyMs = Math.min(EARLY.ms, (login.tokens.expires_in ?? 0) * 1_000 * EARLY.part)
  return remainingMs(login) <= earlyMs
}

function remainingMs({ expiresAt }: CompleteLogin): number {
  return expiresAt === undefined ? Infinity : expiresAt - Date.now()
}

/** What a configuration says about logins. */
export function wishOf({
  redirectUrl,
  clientName = 'mcp-host',
  clientMetadataUrl: metadataUrl,
  clientId,
  clientSecret,
  registrations,
  issuer,
  scope,
  omitResource,
  parameters,
}: OAuthAuthConfig & Pick<UserLogins, 'redirectUrl'>): LoginWish {
  const secret = clientSecret === undefined ? {} : { clientSecret }
  const registered = clientId === undefined ? undefined : { clientId, ...secret }
  const client = { redirectUrl, name: clientName, metadataUrl, registered, registrations }
  return { client, issuer, scope, omitResource, parameters }
}

import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client'

import { authFetch } from './auth-fetch.ts'
import type { AuthDeps, AuthStrategy } from './auth-strategy.ts'
import type {
  AuthorizationServer,
  ProtectedServer,
  ResourceMetadata,
} from './oauth/authorization-server.ts'
import { findAuthorizationServer, resourceOf } from './oauth/authorization-server.ts'
import type { CompleteLogin, LoginClient } from './oauth/login.ts'
import { beginLogin, clientAt, finishLogin, refreshLogin } from './oauth/login.ts'
import type { AccessToken, TokenRequest } from './token-source.ts'
import { TokenSource } from './token-source.ts'

/** Keeps the login of one user at one server. It has secrets. */
export interface LoginStore {
  load(): Promise<CompleteLogin | undefined>
  /** `undefined`: the login is over. */
  save(login: CompleteLogin | undefined): Promise<void>
  /** Runs work that no other process may do at the same time. Default: it just runs. */
  alone?<T>(work: () => Promise<T>): Promise<T>
}

/** A login of a user at the authorization server that the server names. For applications. */
export interface OAuthAuthConfig {
  readonly type: 'oauth'
  /** The address at which the application gets users back after a login. */
  readonly redirectUrl: string
  /** The name of the application for users. Default: `mcp-host`. */
  readonly clientName?: string
  /**
   * The URL of the authorization server. Needed with a `clientSecret`, which goes to this one alone. Default: the one that
   * the server names.
   */
  readonly issuer?: string
  /** A registration that was made beforehand. Default: the application registers itself where it can. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** The address of the application's metadata document, which replaces a registration. */
  readonly clientMetadataUrl?: string
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string
  /** Does not name the server to the authorization server (RFC 8707), which some refuse. */
  readonly omitResource?: boolean
  readonly store: LoginStore
  /** Sends the user to an address, and returns the one to which the browser came back. */
  readonly login: (url: URL) => Promise<URL>
}

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
    const user = new LoggedInUser(config, deps, url)
    return new TokenSource((request) => user.token(request))
  },
}

class LoggedInUser {
  readonly #config: OAuthAuthConfig
  readonly #onToken: AuthDeps['onToken']
  readonly #url: string
  readonly #fetch: ReturnType<typeof authFetch>

  constructor(config: OAuthAuthConfig, deps: AuthDeps, url: string) {
    this.#config = config
    this.#onToken = deps.onToken
    this.#url = url
    const { issuer, clientSecret } = config
    this.#fetch = authFetch(deps, issuer === undefined ? [url] : [url, issuer])
    if (clientSecret !== undefined) deps.onToken(clientSecret)
  }

  async token(request: TokenRequest): Promise<AccessToken | undefined> {
    let login: CompleteLogin | undefined
    try {
      login = await (request.isRefusal ? this.#afterRefusal(request) : this.#known())
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`there is no login at the server: ${reason}`, { cause: error })
    }
    if (login === undefined) return undefined
    const { access_token: value, refresh_token: refresh } = login.tokens
    this.#onToken(value)
    if (refresh !== undefined) this.#onToken(refresh)
    return { value, lifeMs: remainingMs(login) }
  }

  /** The login as far as it is known; its token is replaced when it has expired. */
  async #known(): Promise<CompleteLogin | undefined> {
    const known = await this.#config.store.load()
    if (known === undefined || remainingMs(known) > 0) return known
    // Where it cannot be replaced, the refusal of the server says what to do.
    return this.#refresh(known).then(
      ({ login }) => login,
      () => undefined,
    )
  }

  /** Another token than the one that the server refused, if necessary by a new login. */
  async #afterRefusal({ challenge, refused }: TokenRequest): Promise<CompleteLogin> {
    const server = { url: this.#url, challenge, fetchFn: this.#fetch }
    const about = await resourceOf(server)
    const known = await this.#config.store.load()
    // A server may move to another authorization server, and then its tokens are good for nothing.
    const named = about?.authorization_servers ?? []
    const isLeft = known !== undefined && named.length > 0 && named.every(isOther(known))
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
    if (refreshToken === undefined) return { isRegistered: true }
    const { store } = this.#config
    try {
      const server = { url: this.#url, challenge: {}, fetchFn: this.#fetch }
      const isAtServer = known.issuer === new URL('/', this.#url).href
      const at = await findAuthorizationServer(server, isAtServer ? [] : [known.issuer])
      const client =
        this.#client().registered === undefined ? known.client : await this.#clientAt(at)
      const refreshed = await refreshLogin(at, { ...known, client }, refreshToken, this.#fetch)
      await store.save(refreshed)
      return { login: refreshed, isRegistered: true }
    } catch (error) {
      if (!(error instanceof OAuthError) || PASSING.has(error.code)) throw error
      await store.save(undefined)
      return { isRegistered: !UNREGISTERED.has(error.code) }
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
    const { store, login, omitResource, redirectUrl, issuer, scope: configured } = this.#config
    const { scope: demanded, isForMore = false } = server.challenge
    const named = issuer === undefined ? about?.authorization_servers : [issuer]
    const at = await findAuthorizationServer(server, named, known?.issuer)
    const base = isForMore ? known?.scope : configured
    const scope = union(
      base,
      demanded ?? (base === undefined ? about?.scopes_supported?.join(' ') : base),
    )
    if (isForMore && known !== undefined && scope === union(known.scope)) {
      throw new Error(`it asks for the scopes that it has got: ${scope}`)
    }
    const resource = omitResource === true ? undefined : about?.resource
    const isUsable = known !== undefined && !isOther(known)(at.issuer)
    const isGiven = this.#config.clientId !== undefined
    const client = isUsable && !isGiven ? known.client : await this.#clientAt(at)
    const { url, pending } = await beginLogin(at, client, redirectUrl, { scope, resource })
    const complete = await finishLogin(at, pending, await login(url), this.#fetch)
    await store.save(complete)
    return complete
  }

  #clientAt(at: AuthorizationServer): ReturnType<typeof clientAt> {
    return clientAt(at, this.#client(), this.#fetch)
  }

  #client(): LoginClient {
    const { redirectUrl, clientName = 'mcp-host', clientId, clientSecret } = this.#config
    return {
      redirectUrl,
      name: clientName,
      metadataUrl: this.#config.clientMetadataUrl,
      registered:
        clientId === undefined
          ? undefined
          : { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) },
    }
  }
}

/** Errors of an authorization server after which a login is as good as before. */
const PASSING: ReadonlySet<string> = new Set([
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
])
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

function remainingMs({ expiresAt }: CompleteLogin): number {
  return expiresAt === undefined ? Infinity : expiresAt - Date.now()
}

/** Whether an authorization server is another one than that of a login. */
function isOther({ issuer }: CompleteLogin): (other: string) => boolean {
  return (other) => other.replace(/\/$/, '') !== issuer.replace(/\/$/, '')
}

/** All scopes of two lists that are separated by spaces. */
function union(...lists: readonly (string | undefined)[]): string | undefined {
  const scopes = new Set(
    lists.flatMap((list) => list?.split(' ') ?? []).filter((each) => each !== ''),
  )
  return scopes.size === 0 ? undefined : [...scopes].join(' ')
}

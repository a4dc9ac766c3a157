import { createHash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AuthError, TokenCache } from '@mcp-host/auth'
import type { Bucket, Bus } from '@mcp-host/bus'
import { defineBucket, Principal } from '@mcp-host/contracts'
import { z } from 'zod'
import { Revocations } from './revocations.ts'
import { readCookie, setCookie } from './cookies.ts'

const DAY_MS = 86_400_000
/** The lifetime of a login with a password. */
const LOGIN_MS = 14 * DAY_MS
/** The time for which a revocation is stored, so that gateways with open sockets learn of it after an outage. */
const REVOKED_MS = 3_600_000
/** The time for which a record is cached. */
const CACHED_MS = 60_000
const ID = /^[\w-]{43}$/
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** The login of a browser. */
export const Login = z.object({
  /** The name of the account, for accounts of this host. */
  account: z.string().optional(),
  /**
   * The `validFrom` of the account that was read for the login. The end of all logins raises it, so that it also ends a
   * login that had begun before. Absent in records of earlier versions.
   */
  validFrom: z.number().optional(),
  /** The principal at the login, for users of an identity provider. */
  principal: Principal.optional(),
  /** The id token of the login, which the identity provider requires to end its own login. */
  idToken: z.string().optional(),
  /** Epoch milliseconds. */
  loggedInAt: z.number(),
  expiresAt: z.number(),
})

export type Login = z.infer<typeof Login>

/** A login with the key of its record. */
export interface KnownLogin extends Login {
  readonly key: string
}

const loginsBucket = defineBucket('LOGINS', { record: Login, what: 'logins' })

/** The parts of a request that decide whether its cookie is accepted. */
export interface BrowserRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

export interface LoginSessionsDeps {
  readonly bus: Pick<Bus, 'bucket' | 'secret'>
  readonly revocations: Revocations
  /** The principal of a login; `undefined` when it is not valid any more. */
  readonly principalOf: (login: Login) => Principal | undefined
}

/**
 * Logins of browsers. The cookie holds a random id whose hash is the key of the record, so that every gateway knows the
 * login and learns of its end.
 */
export class LoginSessions {
  /** The name of the cookie. It differs for each installation, since all ports of a host name share cookies. */
  readonly cookieName: string
  readonly #deps: LoginSessionsDeps
  readonly #bucket: Bucket<Login>
  readonly #origins: readonly string[]
  readonly #isSecure: boolean
  readonly #suffix: string
  readonly #cache = new TokenCache<KnownLogin>()

  private constructor(
    deps: LoginSessionsDeps,
    bucket: Bucket<Login>,
    origins: readonly string[],
    suffix: string,
  ) {
    this.#deps = deps
    this.#bucket = bucket
    this.#origins = origins
    this.#isSecure = origins[0]?.startsWith('https:') === true
    this.#suffix = suffix
    this.cookieName = this.#nameOf('mcp-host')
  }

  /** `origins`: addresses of this host, the public one first. */
  static async open(deps: LoginSessionsDeps, origins: readonly string[]): Promise<LoginSessions> {
    const [bucket, secret] = await Promise.all([
      deps.bus.bucket(loginsBucket),
      deps.bus.secret('installation'),
    ])
    const suffix = createHash('sha256').update(secret).digest('hex').slice(0, 8)
    return new LoginSessions(deps, bucket, origins, suffix)
  }

  /** Begins a login; the result is the value of `Set-Cookie`. */
  async begin(
    about: Pick<Login, 'account' | 'validFrom' | 'principal' | 'idToken'>,
    lifeMs = LOGIN_MS,
  ): Promise<string> {
    const id = randomBytes(32).toString('base64url')
    const loggedInAt = Date.now()
    const login = { ...about, loggedInAt, expiresAt: loggedInAt + lifeMs }
    await this.#bucket.put(keyOf(id), login, { revision: 0, ttlMs: lifeMs })
    return this.#setCookie(this.cookieName, id, lifeMs)
  }

  /** A cookie for the browser that begins a login at the identity provider. */
  startCookie(): { readonly name: string; set(value: string, lifeMs: number): string } {
    const name = this.#nameOf('mcp-host-start')
    return { name, set: (value, lifeMs) => this.#setCookie(name, value, lifeMs) }
  }

  /** Ends the login of a request at all gateways; the result is the value of `Set-Cookie`. */
  async end(headers: IncomingHttpHeaders): Promise<string> {
    const id = readCookie(headers, this.cookieName)
    const login = id === undefined ? undefined : await this.#find(id)
    // Anybody can send a cookie, so nothing is stored for unknown ones.
    if (login !== undefined) {
      await endLogin(login.key, this.#bucket, this.#deps.revocations)
    }
    return this.#setCookie(this.cookieName, '', 0)
  }

  /** The valid login of a browser; `undefined` when there is none. The origin of the request is not checked. */
  async find(headers: IncomingHttpHeaders): Promise<Login | undefined> {
    const id = readCookie(headers, this.cookieName)
    const login = id === undefined ? undefined : await this.#find(id)
    return login !== undefined && this.principalOf(login) !== undefined ? login : undefined
  }

  /**
   * The principal of a request that has a cookie of this host; `undefined` without one. Throws, or rejects with,
   * `AuthError` when the login has ended, or when another site may have caused the request.
   */
  authenticate(request: BrowserRequest): Principal | Promise<Principal> | undefined {
    const id = readCookie(request.headers, this.cookieName)
    if (id === undefined) return undefined
    this.#checkSource(request)
    const known = this.#cache.get(id)
    if (known !== undefined) return this.principalOf(known) ?? refuse()
    if (!ID.test(id)) return refuse()
    return this.#read(id).then(
      (login) => (login === undefined ? undefined : this.principalOf(login)) ?? refuse(),
    )
  }

  #nameOf(kind: string): string {
    return `${this.#isSecure ? '__Host-' : ''}${kind}-${this.#suffix}`
  }

  #setCookie(name: string, value: string, maxAgeMs: number): string {
    return setCookie(name, value, { isSecure: this.#isSecure, maxAgeMs })
  }

  /**
   * The login of a request that was authenticated earlier, with the key of its record; `undefined` when it has none.
   */
  credentialOf(headers: IncomingHttpHeaders): KnownLogin | undefined {
    const id = readCookie(headers, this.cookieName)
    return id === undefined ? undefined : this.#cache.get(id)
  }

  /** The principal of a login; `undefined` when the login has ended. */
  principalOf(login: KnownLogin): Principal | undefined {
    const isOver = login.expiresAt <= Date.now()
    if (isOver || this.#deps.revocations.has(revocationOf(login.key))) return undefined
    return this.#deps.principalOf(login)
  }

  async #find(id: string): Promise<KnownLogin | undefined> {
    return ID.test(id) ? (this.#cache.get(id) ?? this.#read(id)) : undefined
  }

  async #read(id: string): Promise<KnownLogin | undefined> {
    const key = keyOf(id)
    const found = await this.#bucket.get(key)
    if (found === undefined) return undefined
    const login = { ...found.record, key }
    this.#cache.set(id, login, Math.min(login.expiresAt, Date.now() + CACHED_MS))
    return login
  }

  /** Refuses requests of pages at other ports of this host name, with which browsers send the cookie, too. */
  #checkSource({ method = 'GET', headers }: BrowserRequest): void {
    const { origin, upgrade } = headers
    const site = headers['sec-fetch-site']
    const isSafe = SAFE_METHODS.has(method) && upgrade === undefined
    const isNavigation = isSafe && headers['sec-fetch-mode'] === 'navigate'
    const isOwn = origin === undefined ? isSafe : this.#origins.includes(origin)
    const isFromElsewhere = site !== undefined && site !== 'same-origin' && site !== 'none'
    if (isOwn && (isNavigation || !isFromElsewhere)) return
    throw new AuthError(
      'invalid_token',
      'the login of a browser counts for pages of this host alone; other pages need a token',
    )
  }
}

/** Ends all logins of a user of an identity provider, at all gateways. Resolves with their number. */
export async function endLoginsOf(bus: Pick<Bus, 'bucket'>, principal: string): Promise<number> {
  const bucket = await bus.bucket(loginsBucket)
  const [view, revocations] = await Promise.all([bucket.watch(), Revocations.open(bus)])
  const own = Array.from(view.records).filter(([, login]) => login.principal?.id === principal)
  for (const [key] of own) await endLogin(key, bucket, revocations)
  return own.length
}

async function endLogin(
  key: string,
  bucket: Bucket<Login>,
  revocations: Revocations,
): Promise<void> {
  // An end that failed between the two is found by the next one.
  await revocations.add(revocationOf(key), REVOKED_MS)
  await bucket.remove(key)
}

function refuse(): never {
  throw new AuthError('invalid_token', 'the login has ended; log in again')
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('hex')
}

function revocationOf(key: string): string {
  return `login-${key}`
}

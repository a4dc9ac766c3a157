import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { ClientMetadata } from 'oidc-provider'
import { Provider } from 'oidc-provider'
import { vi } from 'vitest'
import { trustAssertions } from './trusting-grants.ts'

export interface AuthorizationServerOptions {
  /** The clients that it knows. Others register themselves. */
  readonly clients?: readonly ClientMetadata[]
  /** The lifetime of access tokens. Default: one hour. */
  readonly ttlSeconds?: number
  /** A trusted issuer of assertions about users, with the address of its keys. */
  readonly trusts?: Parameters<typeof trustAssertions>[1]
  /** Whether a refresh token is good once, and its reuse ends the login. Default: true. */
  readonly rotates?: boolean
  /** The time for which a refresh token that is good once is taken again. Default: 0. */
  readonly leewayMs?: number
}

/** Limit for the pages of one login. */
const MAX_STEPS = 10
/** The last page of a login for a device. */
const DEVICE_DONE = 'the device is logged in'
const SCOPES = ['notes.read', 'notes.write']

/** An authorization server, `oidc-provider`, within the process of the test. Its users agree to everything. */
export class AuthorizationServer implements AsyncDisposable {
  readonly url: string
  /** The access tokens that it issued, oldest first. */
  readonly issued: string[] = []
  /** The bodies of the requests for tokens. */
  readonly asked: URLSearchParams[] = []
  /** The clients that registered themselves. */
  readonly registered: string[] = []
  /** Whether it answers requests for tokens with an error of its own, or of a proxy before it. */
  isBroken = false
  /** Whether it says what it is (RFC 8414). */
  publishesMetadata = true
  /** The body of that error. */
  breakage = ''
  /** Called before a request for tokens is processed, and before its answer is sent. `tear` ends the connection. */
  onTokenRequest: ((moment: 'received' | 'processed', tear: () => void) => unknown) | undefined
  readonly #provider: Provider
  readonly #server: ReturnType<typeof createServer>
  readonly #refreshTokens: string[] = []
  readonly #users = new Map<string, string>()

  private constructor(
    server: ReturnType<typeof createServer>,
    {
      clients = [],
      ttlSeconds = 3_600,
      rotates = true,
      leewayMs = 0,
      trusts,
    }: AuthorizationServerOptions,
  ) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#provider = quietly(() => createProvider(this.url, { clients, ttlSeconds, rotates }))
    if (trusts !== undefined) trustAssertions(this.#provider, trusts)
    if (leewayMs > 0) consumeLate(this.#provider, leewayMs)
    const keep = ({ jti }: { readonly jti: string }): void => void this.issued.push(jti)
    this.#provider.on('client_credentials.saved', keep)
    this.#provider.on('access_token.saved', keep)
    this.#provider.on('access_token.saved', ({ jti, accountId }) => {
      this.#users.set(jti, accountId)
    })
    this.#provider.on('refresh_token.saved', ({ jti }) => void this.#refreshTokens.push(jti))
    this.#provider.on('registration_create.success', (_, { clientId }) => {
      this.registered.push(clientId)
    })
    this.#provider.use(async (ctx, next) => {
      if (ctx.path !== '/token') {
        await next()
      } else if (this.isBroken) {
        ctx.body = this.breakage
        ctx.status = 503
      } else {
        const tear = (): void => void ctx.req.socket.destroy()
        await this.onTokenRequest?.('received', tear)
        await next()
        const { body } = ctx.oidc ?? {}
        this.asked.push(new URLSearchParams(body as Record<string, string>))
        await this.onTokenRequest?.('processed', tear)
      }
    })
    const answer = this.#provider.callback()
    server.on('request', (request, response) => {
      if (request.url?.startsWith('/.well-known/') === true && !this.publishesMetadata) {
        response.writeHead(404).end()
      } else if (request.url?.startsWith('/interaction/') === true) {
        this.#agree(request, response).catch((error: unknown) => {
          response.writeHead(500).end(String(error))
        })
      } else void answer(request, response)
    })
  }

  static async open(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new AuthorizationServer(server, options)
  }

  /** Whether a token is one of its own that is valid for a resource and has a scope. */
  async accepts(token: string, resource?: string, scope?: string): Promise<boolean> {
    const found = await this.#find(token)
    if (found === undefined || (resource !== undefined && found.aud !== resource)) return false
    return scope === undefined || found.scope?.split(' ').includes(scope) === true
  }

  /** The user of a token, which may have ended. */
  userOf(token: string): string | undefined {
    return this.#users.get(token)
  }

  /** How often a login was refreshed. */
  get refreshes(): number {
    return this.asked.filter((body) => body.get('grant_type') === 'refresh_token').length
  }

  /** Ends a token before its time. */
  async revoke(token: string): Promise<void> {
    await (await this.#find(token))?.destroy()
  }

  /** Ends all logins: access tokens and what they are refreshed by. */
  async endLogins(): Promise<void> {
    for (const token of this.issued) await this.revoke(token)
    for (const token of this.#refreshTokens) {
      await (await this.#provider.RefreshToken.find(token))?.destroy()
    }
  }

  /** The browser of a user who agrees: opens a page for a login, and returns where it ends. */
  async login(page: URL, user: string): Promise<URL> {
    const browser = new AgreeingBrowser(user)
    let at = page
    for (let steps = 0; at.origin === this.url; steps += 1) {
      if (steps === MAX_STEPS) throw new Error(`the login does not end: ${at.pathname}`)
      const response = await browser.open(at)
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${response.status}: ${await response.text()}`)
      at = new URL(location, at)
    }
    return at
  }

  /** The browser of a user who enters the code of a device, and agrees (RFC 8628). */
  async loginDevice(page: URL, code: string, user: string): Promise<void> {
    const browser = new AgreeingBrowser(user)
    let at = page
    let body: URLSearchParams | undefined
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const response = await browser.open(at, body)
      const location = response.headers.get('location')
      const text = await response.text()
      const action = /action="([^"]+)"/.exec(text)?.[1]
      if (location === null && action === undefined) {
        if (text === DEVICE_DONE) return
        throw new Error(`${response.status}: ${text}`)
      }
      const hidden = text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
      const fields = Array.from(hidden, ([, name = '', value = '']) => [name, value] as const)
      const filled = { user_code: code, ...Object.fromEntries(fields) }
      body = location === null ? new URLSearchParams(filled) : undefined
      at = new URL(location ?? action ?? '', at)
    }
    throw new Error(`the login does not end: ${at.pathname}`)
  }

  /** Stops listening, and ends all connections. */
  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Listens again at the same address. */
  async restart(): Promise<void> {
    this.#server.listen(Number(new URL(this.url).port), '127.0.0.1')
    await once(this.#server, 'listening')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #find(token: string) {
    const { AccessToken, ClientCredentials } = this.#provider
    return (await AccessToken.find(token)) ?? (await ClientCredentials.find(token))
  }

  async #agree(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await this.#provider.interactionDetails(request, response)
    const accountId = /\buser=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const grant = new this.#provider.Grant({ accountId, clientId: String(params['client_id']) })
    grant.addOIDCScope(['openid', 'offline_access', ...SCOPES].join(' '))
    const { resource } = params
    if (typeof resource === 'string') grant.addResourceScope(resource, SCOPES.join(' '))
    const consent = { grantId: await grant.save() }
    const result = { login: { accountId }, consent }
    await this.#provider.interactionFinished(request, response, result)
  }
}

/** Keeps cookies, and follows no redirects. */
class AgreeingBrowser {
  readonly #cookies: Map<string, string>

  constructor(user: string) {
    this.#cookies = new Map([['user', user]])
  }

  async open(at: URL, body?: URLSearchParams): Promise<Response> {
    const cookie = Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const method = body === undefined ? 'GET' : 'POST'
    const init = { method, redirect: 'manual', headers: { cookie } } as const
    const response = await fetch(at, body === undefined ? init : { ...init, body })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }
}

function createProvider(
  url: string,
  {
    clients,
    ttlSeconds,
    rotates,
  }: Required<Omit<AuthorizationServerOptions, 'leewayMs' | 'trusts'>>,
): Provider {
  return new Provider(url, {
    clients: [...clients],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    cookies: { keys: ['a key for tests'] },
    scopes: ['openid', 'offline_access', ...SCOPES],
    findAccount: (_, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => rotates,
    expiresWithSession: async () => false,
    pkce: { required: () => true },
    ttl: {
      AccessToken: ttlSeconds,
      ClientCredentials: ttlSeconds,
      Grant: 3_600,
      IdToken: 3_600,
      Interaction: 60,
      RefreshToken: 3_600,
      Session: 3_600,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form) => void (ctx.body = form),
        userCodeConfirmSource: (ctx, form) => void (ctx.body = form),
        successSource: (ctx) => void (ctx.body = DEVICE_DONE),
      },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: SCOPES.join(' '),
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  })
}

/** Marks refresh tokens as used some time after their use. */
function consumeLate({ RefreshToken }: Provider, leewayMs: number): void {
  const consume: unknown = Reflect.get(RefreshToken.prototype, 'consume')
  if (typeof consume !== 'function') throw new Error('refresh tokens cannot be marked as used')
  RefreshToken.prototype.consume = async function (this: unknown): Promise<void> {
    // One that is gone by then cannot be used again either.
    const mark = (): void => void Promise.resolve(consume.call(this)).catch(() => undefined)
    setTimeout(mark, leewayMs).unref()
  }
}

/** Without the warnings of the library that it keeps everything in memory. */
function quietly<T>(create: () => T): T {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined)
  try {
    return create()
  } finally {
    warn.mockRestore()
  }
}

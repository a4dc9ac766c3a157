import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { ClientMetadata } from 'oidc-provider'
import { Provider } from 'oidc-provider'
import { vi } from 'vitest'

export interface AuthorizationServerOptions {
  /** The clients that it knows. */
  readonly clients: readonly ClientMetadata[]
  /** The lifetime of access tokens. Default: one hour. */
  readonly ttlSeconds?: number
}

/** An authorization server, `oidc-provider`, within the process of the test. */
export class AuthorizationServer implements AsyncDisposable {
  readonly url: string
  /** The access tokens that it issued, oldest first. */
  readonly issued: string[] = []
  /** The bodies of the requests for tokens. */
  readonly asked: URLSearchParams[] = []
  readonly #provider: Provider
  readonly #server: ReturnType<typeof createServer>

  private constructor(
    server: ReturnType<typeof createServer>,
    { clients, ttlSeconds = 3_600 }: AuthorizationServerOptions,
  ) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#provider = quietly(
      () =>
        new Provider(this.url, {
          clients: [...clients],
          clientAuthMethods: [
            'client_secret_basic',
            'client_secret_post',
            'private_key_jwt',
            'none',
          ],
          scopes: ['notes.read', 'notes.write'],
          ttl: { ClientCredentials: ttlSeconds },
          features: {
            clientCredentials: { enabled: true },
            devInteractions: { enabled: false },
            resourceIndicators: {
              enabled: true,
              getResourceServerInfo: (_, resource) => ({
                scope: 'notes.read notes.write',
                audience: resource,
                accessTokenFormat: 'opaque',
              }),
            },
          },
        }),
    )
    this.#provider.on('client_credentials.saved', ({ jti }: { jti: string }) => {
      this.issued.push(jti)
    })
    this.#provider.use(async (ctx, next) => {
      await next()
      const { body } = ctx.oidc ?? {}
      if (ctx.path === '/token')
        this.asked.push(new URLSearchParams(body as Record<string, string>))
    })
    const answer = this.#provider.callback()
    server.on('request', (request, response) => void answer(request, response))
  }

  static async open(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new AuthorizationServer(server, options)
  }

  /** Whether a token is one of its own that is valid for a resource. */
  async accepts(token: string, resource?: string): Promise<boolean> {
    const found = await this.#provider.ClientCredentials.find(token)
    return found !== undefined && (resource === undefined || found.aud === resource)
  }

  /** Ends a token before its time. */
  async revoke(token: string): Promise<void> {
    await (await this.#provider.ClientCredentials.find(token))?.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
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

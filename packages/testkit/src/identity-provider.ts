import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { JWK } from 'jose'
import { importJWK, SignJWT } from 'jose'
import type { TokenSigner } from './token-signer.ts'

const PROGRAM = join(import.meta.dirname, '..', 'fixtures', 'identity-provider.ts')

/** The client that an identity provider knows. */
export interface ProviderClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirect: string
  readonly afterLogout: string
}

/** An identity provider in a process of its own, `oidc-provider`. Any name logs in there; `root` has the role `admin`. */
export interface IdentityProvider extends TokenSigner, AsyncDisposable {
  /** An access token that it issues for a resource to the client `machine`, whose role is `admin`. */
  token(resource: string, scope?: string): Promise<string>
  /** Replaces its signing key; the old one is gone. */
  rotate(): Promise<void>
}

export async function startIdentityProvider(client: ProviderClient): Promise<IdentityProvider> {
  const process = fork(PROGRAM, [JSON.stringify(client)], { silent: true })
  const [line] = (await once(process.stdout ?? process, 'data')) as [Buffer]
  const url = line.toString().trim()
  const control = async (action: string): Promise<JWK> =>
    (await (await fetch(`${url}/test/${action}`)).json()) as JWK
  return {
    url,
    async token(resource, scope = 'mcp chat admin') {
      const basic = Buffer.from(`machine:${client.clientSecret}`).toString('base64')
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource, scope })
      const headers = { authorization: `Basic ${basic}` }
      const response = await fetch(`${url}/token`, { method: 'POST', headers, body })
      const { access_token: token } = (await response.json()) as { access_token?: string }
      if (token === undefined) throw new Error(`no token: ${response.status}`)
      return token
    },
    async sign(claims, { alg = 'RS256', kid, typ = 'at+jwt', key } = {}) {
      const own = await control('key')
      const signing = key ?? (await importJWK(own, 'RS256'))
      const header = { alg, typ, kid: kid ?? own.kid ?? '' }
      return new SignJWT(claims).setProtectedHeader(header).sign(signing)
    },
    async publicKey() {
      const response = await fetch(`${url}/jwks`)
      const { keys } = (await response.json()) as { keys: [JWK] }
      return keys[0]
    },
    rotate: async () => void (await control('rotate')),
    async [Symbol.asyncDispose]() {
      process.kill('SIGKILL')
      if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
    },
  }
}

import type { AuthProvider } from '@modelcontextprotocol/client'
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'

import type { Fetch } from '../streams/bounded-fetch.ts'

/** A provider of tokens that can get one with more scopes. */
export interface TokenProvider extends AuthProvider {
  /** Called with an answer whose token has too few scopes. Afterwards `token` returns another one. */
  onInsufficientScope?(refusal: { readonly response: Response }): Promise<void>
}

/** The tokens of requests that were refused, by the answers. */
const refused = new WeakMap<Response, string>()

/** The token of the request that an answer refuses; `undefined` when it had none. */
export function refusedToken(response: Response): string | undefined {
  return refused.get(response)
}

/**
 * Remembers which token an answer refuses, and sends a request once more when its token had too few scopes (RFC 6750,
 * section 3.1).
 */
export function authorizedFetch(send: Fetch, provider: TokenProvider | undefined): Fetch {
  if (provider === undefined) return send
  const sendOnce: Fetch = async (input, init) => {
    const response = await send(input, init)
    const { status } = response
    if (status !== 401 && status !== 403) return response
    const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '')
    if (token !== undefined) refused.set(response, token)
    return response
  }
  return async (input, init) => {
    const response = await sendOnce(input, init)
    if (response.status !== 403 || provider.onInsufficientScope === undefined) return response
    if (extractWWWAuthenticateParams(response).error !== 'insufficient_scope') return response
    await response.body?.cancel()
    await provider.onInsufficientScope({ response })
    const headers = new Headers(init?.headers)
    const token = await provider.token()
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    return sendOnce(input, { ...init, headers })
  }
}

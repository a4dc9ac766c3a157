import type { AuthProvider } from '@modelcontextprotocol/client'
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'

import { UnsentError } from '../errors/unsent-error.ts'
import { refusedToken, type TokenProvider } from './authorized-fetch.ts'
import type { AuthDeps } from './auth-strategy.ts'
import { isLoginNeeded } from './oauth/login-needed-error.ts'
import type { Challenge } from './oauth/challenge.ts'

/** The time before its expiry in which a token is replaced, and its limit as a part of the lifetime. */
export const EARLY = { ms: 10_000, part: 0.2 }

export interface AccessToken {
  readonly value: string
  /** How long it is good from now on, in milliseconds. `Infinity`: not known. */
  readonly lifeMs: number
}

export interface TokenRequest {
  /** The last refusal of the server; empty before the first. */
  readonly challenge: Challenge
  /** The token that the server refused; absent when none was sent, or when it only expires. */
  readonly refused?: string | undefined
  /** Whether the server has refused a request just now. */
  readonly isRefusal: boolean
}

/** Gets a token. `undefined`: the request is sent without one. Throws when there is none. */
export type GetToken = (request: TokenRequest) => Promise<AccessToken | undefined>

type Refusal = Pick<Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0], 'response'>

/**
 * The tokens of one connection. A token is got before the first request, shortly before it expires, and when the server
 * refuses it; requests that need it meanwhile wait for the same answer.
 */
export class TokenSource implements TokenProvider {
  readonly #get: GetToken
  readonly #onAsked: AuthDeps['onAsked']
  #challenge: Challenge = {}
  #token: string | undefined
  /** When the token is replaced. */
  #staleAt = -Infinity
  #getting: Promise<void> | undefined

  constructor(get: GetToken, onAsked?: AuthDeps['onAsked']) {
    this.#get = get
    this.#onAsked = onAsked
  }

  async token(): Promise<string | undefined> {
    if (this.#getting !== undefined || performance.now() >= this.#staleAt) {
      await this.#replace({ challenge: this.#challenge, isRefusal: false })
    }
    return this.#token
  }

  /** Replaces a token that the server refused with 401. */
  async onUnauthorized({ response }: Refusal): Promise<void> {
    const refused = refusedToken(response)
    // Several requests had the token that was refused, and the first refusal has replaced it.
    if (this.#getting === undefined && refused !== this.#token) return
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    this.#challenge = { resourceMetadataUrl, scope }
    await this.#replace({ challenge: this.#challenge, refused, isRefusal: true })
  }

  /** Replaces a token whose scopes were too few for a request. */
  async onInsufficientScope({ response }: Refusal): Promise<void> {
    const refused = refusedToken(response)
    if (this.#getting === undefined && refused !== this.#token) return
    const { resourceMetadataUrl = this.#challenge.resourceMetadataUrl, scope } =
      extractWWWAuthenticateParams(response)
    const challenge = { resourceMetadataUrl, scope, isForMore: true }
    await this.#replace({ challenge, refused, isRefusal: true })
  }

  #replace(request: TokenRequest): Promise<void> {
    this.#getting ??= this.#getNow(request).finally(() => {
      this.#getting = undefined
    })
    return this.#getting
  }

  async #getNow(request: TokenRequest): Promise<void> {
    const token = await this.#get(request).catch((error: unknown) => {
      this.#onAsked?.(isLoginNeeded(error) ? 'needed' : 'failed')
      throw new UnsentError(error instanceof Error ? error.message : String(error), {
        cause: error,
      })
    })
    this.#token = token?.value
    if (token === undefined) return
    this.#onAsked?.('ok')
    this.#staleAt = performance.now() + token.lifeMs - Math.min(EARLY.ms, token.lifeMs * EARLY.part)
  }
}

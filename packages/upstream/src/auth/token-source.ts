import type { AuthProvider, OAuthTokens } from '@modelcontextprotocol/client'
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client'

/** The time after a new token in which refusals may concern the one before it. */
const FRESH_MS = 1_000
/** The time before its expiry in which a token is replaced, and its limit as a part of the lifetime. */
const EARLY = { ms: 10_000, part: 0.2 }

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

/** What a server says when it refuses a request (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined
  readonly scope?: string | undefined
}

/** Asks an authorization server for tokens. Throws when there are none. */
export type AskForTokens = (challenge: Challenge) => Promise<OAuthTokens>

/**
 * The tokens of one connection. A token is asked for before the first request, shortly before it expires, and when the
 * server refuses it; requests that need it meanwhile wait for the same answer.
 */
export class TokenSource implements AuthProvider {
  readonly #ask: AskForTokens
  #challenge: Challenge = {}
  #token: string | undefined
  #gotAt = -Infinity
  /** When the token is replaced. */
  #staleAt = Infinity
  #asking: Promise<void> | undefined

  constructor(ask: AskForTokens) {
    this.#ask = ask
  }

  async token(): Promise<string | undefined> {
    const isUsable = this.#token !== undefined && performance.now() < this.#staleAt
    if (!isUsable || this.#asking !== undefined) await this.#renew()
    return this.#token
  }

  async onUnauthorized({ response }: UnauthorizedContext): Promise<void> {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    const isKnown =
      scope === this.#challenge.scope &&
      resourceMetadataUrl?.href === this.#challenge.resourceMetadataUrl?.href
    const isFresh = performance.now() < this.#gotAt + FRESH_MS
    if (this.#asking === undefined && isKnown && isFresh) return
    this.#challenge = { resourceMetadataUrl, scope }
    await this.#renew()
  }

  #renew(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #askNow(): Promise<void> {
    const { access_token: token, expires_in: seconds } = await this.#ask(this.#challenge)
    this.#token = token
    this.#gotAt = performance.now()
    const lifeMs = seconds === undefined ? Infinity : seconds * 1_000
    this.#staleAt = this.#gotAt + lifeMs - Math.min(EARLY.ms, lifeMs * EARLY.part)
  }
}

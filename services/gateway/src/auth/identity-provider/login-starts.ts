import { createHash } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'

/** The time that a user has to log in at the identity provider. */
export const START_MS = 10 * 60_000

const LoginStart = z.object({
  /** SHA-256 of the cookie in the browser that began the login, in hexadecimal digits. */
  browser: z.string().length(64),
  nonce: z.string(),
  /** The code verifier of PKCE. */
  verifier: z.string(),
  /** The path to which the browser is sent after the login. */
  returnTo: z.string().optional(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
})
export type LoginStart = z.infer<typeof LoginStart>

const startsBucket = defineBucket('LOGINSTARTS', { record: LoginStart, what: 'begun logins' })

/** Logins whose users are at the identity provider. Each is used once, at any gateway. */
export class LoginStarts {
  readonly #bucket: Bucket<LoginStart>

  private constructor(bucket: Bucket<LoginStart>) {
    this.#bucket = bucket
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<LoginStarts> {
    return new LoginStarts(await bus.bucket(startsBucket))
  }

  /** `state`: the key of the login; `browser`: the cookie of the browser. */
  async add(
    state: string,
    browser: string,
    about: Pick<LoginStart, 'nonce' | 'verifier' | 'returnTo'>,
  ): Promise<void> {
    const record = {
      ...about,
      browser: digestOf(browser),
      expiresAt: this.#bucket.now() + START_MS,
    }
    await this.#bucket.put(digestOf(state), record, { revision: 0, ttlMs: START_MS })
  }

  /** Takes out the login that this browser began; `undefined` when there is none. */
  async take(state: string, browser: string): Promise<LoginStart | undefined> {
    const key = digestOf(state)
    const found = await this.#bucket.get(key)
    if (found === undefined || found.record.expiresAt <= this.#bucket.now()) return undefined
    if (found.record.browser !== digestOf(browser)) return undefined
    try {
      await this.#bucket.remove(key, found.revision)
    } catch (error) {
      // Another request has taken it.
      if (BusError.from(error).code === 'conflict') return undefined
      throw error
    }
    return found.record
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

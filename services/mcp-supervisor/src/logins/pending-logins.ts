import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import type { PendingLogin } from '@mcp-host/upstream'
import { z } from 'zod'
import { Account, digest } from './account.ts'
import type { Sealer } from './sealer.ts'

/** The time for a user to log in. */
const PATIENCE_MS = 600_000

const PendingRecord = Account.extend({
  /** The hash of a secret of the browser in which the login began. */
  browser: z.string(),
  sealed: z.string(),
})
type PendingRecord = z.infer<typeof PendingRecord>

const startsBucket = defineBucket('UPSTREAM_STARTS', {
  record: PendingRecord,
  what: 'logins at MCP servers that are under way',
})

interface Pending {
  readonly account: Account
  readonly browser: string
  readonly pending: PendingLogin
}

interface Returned {
  readonly principal: string
  readonly browser: string
  readonly state: string
}

/** Logins that wait for the return of their users, each for one use. */
export class PendingLogins {
  readonly #bucket: Bucket<PendingRecord>
  readonly #sealer: Sealer

  private constructor(bucket: Bucket<PendingRecord>, sealer: Sealer) {
    this.#bucket = bucket
    this.#sealer = sealer
  }

  static async open(bus: Pick<Bus, 'bucket'>, sealer: Sealer): Promise<PendingLogins> {
    return new PendingLogins(await bus.bucket(startsBucket), sealer)
  }

  async keep({ account, browser, pending }: Pending): Promise<void> {
    const key = digest(pending.state)
    const sealed = this.#sealer.seal(JSON.stringify(pending), placeOf(account, key))
    await this.#bucket.put(
      key,
      { ...account, browser, sealed },
      { revision: 0, ttlMs: PATIENCE_MS },
    )
  }

  /** Takes a login by the state that came back. Throws `not-found`. */
  async take({ principal, browser, state }: Returned): Promise<Omit<Pending, 'browser'>> {
    const key = digest(state)
    const found = await this.#bucket.get(key)
    // A login of somebody else is not used up.
    const isOwn = found?.record.principal === principal && found.record.browser === browser
    if (found === undefined || !isOwn) throw unknown()
    await this.#bucket.remove(key, found.revision).catch((error: unknown) => {
      throw BusError.from(error).code === 'conflict' ? unknown() : error
    })
    const { sealed, browser: _, ...account } = found.record
    // The seal proves that this class wrote it.
    const pending = JSON.parse(this.#sealer.open(sealed, placeOf(account, key))) as PendingLogin
    return { account, pending }
  }
}

function placeOf({ server, principal, label }: Account, key: string): string {
  return JSON.stringify([server, principal, label, key])
}

function unknown(): BusError {
  const message =
    'no login of yours that was begun in this browser waits for this answer; it may be too old, so begin again'
  return new BusError('not-found', message)
}

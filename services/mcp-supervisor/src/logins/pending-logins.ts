import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import type { PendingLogin } from '@mcp-host/upstream'
import { z } from 'zod'
import { Account, accountKey } from './account.ts'
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

interface Returned {
  readonly browser: string
  readonly state: string
}

/** Logins that wait for the return of their users: one for each user at each server, for one use. */
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

  async has(account: Account): Promise<boolean> {
    return (await this.#bucket.get(keyOf(account))) !== undefined
  }

  async keep(account: Account, browser: string, pending: PendingLogin): Promise<void> {
    const sealed = this.#sealer.seal(pending, placeOf(account))
    const record = { ...account, browser, sealed }
    await this.#bucket.put(keyOf(account), record, { ttlMs: PATIENCE_MS })
  }

  /** Takes the login of a user at a server by the state that came back. Throws `not-found`. */
  async take(
    user: Omit<Account, 'label'>,
    { browser, state }: Returned,
  ): Promise<{ readonly account: Account; readonly pending: PendingLogin }> {
    const key = keyOf(user)
    const found = await this.#bucket.get(key)
    if (found?.record.url !== user.url || found.record.browser !== browser) throw unknown()
    const { sealed, label } = found.record
    const account = { ...user, label }
    // The seal proves that this class wrote it.
    const pending = this.#sealer.open(sealed, placeOf(account)) as PendingLogin | undefined
    // The answer to another login does not use up this one.
    if (pending?.state !== state) throw unknown()
    await this.#bucket.remove(key, found.revision).catch((error: unknown) => {
      throw BusError.from(error).code === 'conflict' ? unknown() : error
    })
    return { account, pending }
  }
}

/** A user logs in at a server with one account at a time. */
function keyOf(user: Omit<Account, 'label'>): string {
  return accountKey({ ...user, label: '' })
}

function placeOf(account: Account): string {
  return JSON.stringify([account.url, accountKey(account)])
}

function unknown(): BusError {
  const message =
    'no login of yours that was begun in this browser waits for this answer; it may be too old, so begin again'
  return new BusError('not-found', message)
}

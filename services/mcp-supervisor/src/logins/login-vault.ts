import { sleep } from '@mcp-host/async'
import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import type { ServerName } from '@mcp-host/contracts'
import type { CompleteLogin, LoginStore } from '@mcp-host/upstream'
import { z } from 'zod'
import { Account, accountKey } from './account.ts'
import type { Sealer } from './sealer.ts'

const LoginRecord = Account.extend({
  /** Tells this login from earlier and later ones of the account. */
  id: z.string(),
  /** The authorization server. */
  issuer: z.string(),
  scope: z.string().optional(),
  /** Epoch milliseconds. */
  connectedAt: z.number(),
  /** The tokens and the registration, sealed. Absent: the user has to log in again. */
  sealed: z.string().optional(),
})
export type LoginRecord = z.infer<typeof LoginRecord>

const loginsBucket = defineBucket('UPSTREAM_LOGINS', {
  record: LoginRecord,
  what: 'logins of users at MCP servers',
})

/** The time for which a process may change a login alone, and the pause before another asks again. */
const ALONE = { ttlMs: 10_000, retryMs: 50, patienceMs: 45_000 }

/** The logins of users at servers. Their secrets are sealed, so the bucket alone is good for nothing. */
export class LoginVault {
  readonly #bus: Pick<Bus, 'leases'>
  readonly #bucket: Bucket<LoginRecord>
  readonly #view: BucketView<LoginRecord>
  readonly #sealer: Sealer

  private constructor(
    bus: Pick<Bus, 'leases'>,
    bucket: Bucket<LoginRecord>,
    view: BucketView<LoginRecord>,
    sealer: Sealer,
  ) {
    this.#bus = bus
    this.#bucket = bucket
    this.#view = view
    this.#sealer = sealer
  }

  static async open(bus: Pick<Bus, 'bucket' | 'leases'>, sealer: Sealer): Promise<LoginVault> {
    const bucket = await bus.bucket(loginsBucket)
    return new LoginVault(bus, bucket, await bucket.watch(), sealer)
  }

  /** The logins at a server, of all users; they may lag behind. */
  at(server: ServerName): LoginRecord[] {
    return Array.from(this.#view.records.values()).filter((record) => record.server === server)
  }

  /** The logins of a user. */
  of(principal: string): LoginRecord[] {
    return Array.from(this.#view.records.values()).filter(
      (record) => record.principal === principal,
    )
  }

  /** The login of an account; it may lag behind. */
  record(account: Account): LoginRecord | undefined {
    return this.#view.records.get(accountKey(account))
  }

  /** Calls after each change, until disposed. */
  onChange(listener: () => void): Disposable {
    return this.#view.onChange(listener)
  }

  /** What a connection of an account needs. */
  storeOf(account: Account): Required<LoginStore> {
    let id: string | undefined
    return {
      load: async () => {
        const found = await this.#bucket.get(accountKey(account))
        id = found?.record.id
        return found === undefined ? undefined : this.#open(account, found.record)
      },
      save: (login) => this.#replace(account, id, login),
      alone: (work) => this.#alone(account, work),
    }
  }

  /** Begins a login. */
  add(account: Account, login: CompleteLogin): Promise<void> {
    return this.#alone(account, async () => {
      const about = { id: crypto.randomUUID(), connectedAt: this.#bucket.now() }
      await this.#bucket.put(accountKey(account), this.#seal({ ...account, ...about }, login))
    })
  }

  /** Removes a login, and returns what is needed to revoke it. */
  remove(account: Account): Promise<CompleteLogin | undefined> {
    return this.#alone(account, async () => {
      const key = accountKey(account)
      const found = await this.#bucket.get(key)
      await this.#bucket.remove(key)
      return found === undefined ? undefined : this.#open(account, found.record)
    })
  }

  /** Keeps other tokens of the same login. `undefined`: the user has to log in again. */
  async #replace(
    account: Account,
    id: string | undefined,
    login: CompleteLogin | undefined,
  ): Promise<void> {
    const key = accountKey(account)
    const before = await this.#bucket.get(key)
    // The user has disconnected or logged in anew meanwhile.
    if (before === undefined || before.record.id !== id) return
    const { sealed: _, ...rest } = before.record
    const record = login === undefined ? rest : this.#seal(rest, login)
    await this.#bucket.put(key, record, { revision: before.revision })
  }

  #seal(
    about: Account & Pick<LoginRecord, 'id' | 'connectedAt'>,
    login: CompleteLogin,
  ): LoginRecord {
    const { issuer, scope } = login
    const sealed = this.#sealer.seal(JSON.stringify(login), placeOf({ ...about, issuer }))
    return { ...about, issuer, scope, sealed }
  }

  #open(account: Account, record: LoginRecord): CompleteLogin | undefined {
    if (accountKey(record) !== accountKey(account)) throw new Error('it is of another account')
    if (record.sealed === undefined) return undefined
    // The seal proves that this class wrote it.
    return JSON.parse(this.#sealer.open(record.sealed, placeOf(record))) as CompleteLogin
  }

  /** Runs work that no other process may do for the account at the same time. */
  async #alone<T>(account: Account, work: () => Promise<T>): Promise<T> {
    const key = `login.${accountKey(account)}`
    const giveUpAt = performance.now() + ALONE.patienceMs
    for (;;) {
      const lease = await this.#bus.leases.acquire(key, { ttlMs: ALONE.ttlMs })
      if (lease !== undefined) {
        await using _held = lease
        return await work()
      }
      if (performance.now() > giveUpAt) {
        throw new BusError('unavailable', 'another supervisor changes this login; try again')
      }
      await sleep(ALONE.retryMs)
    }
  }
}

/** What sealed values are bound to. */
function placeOf({
  server,
  principal,
  label,
  id,
  issuer,
}: Omit<LoginRecord, 'sealed' | 'scope' | 'connectedAt'>): string {
  return JSON.stringify([server, principal, label, id, issuer])
}

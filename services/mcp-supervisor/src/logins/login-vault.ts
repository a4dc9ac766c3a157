import { InFlight, sleep } from '@mcp-host/async'
import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, defineBucket, type LoginChange } from '@mcp-host/contracts'
import { type CompleteLogin, type EarlierLogin, isStale, type LoginStore } from '@mcp-host/upstream'
import { z } from 'zod'
import { Account, accountKey } from './account.ts'
import type { LoginEvents } from './login-events.ts'
import type { Sealer } from './sealer.ts'

const LoginRecord = Account.extend({
  /** Tells this login from earlier and later ones of the account. */
  id: z.string(),
  /** The authorization server. */
  issuer: z.string(),
  /** The scopes that were asked for, separated by spaces. */
  scope: z.string().optional(),
  /** Further scopes that the server has demanded. */
  demanded: z.string().optional(),
  /** Epoch milliseconds. */
  connectedAt: z.number(),
  /** Epoch milliseconds at which its tokens were got last. */
  renewedAt: z.number().optional(),
  /** Epoch milliseconds at which its user chose it as the default one; the latest counts. */
  defaultSince: z.number().optional(),
  /** The tokens and the registration, sealed. Absent: the user has to log in again. */
  sealed: z.string().optional(),
})
type LoginRecord = z.infer<typeof LoginRecord>

const loginsBucket = defineBucket('UPSTREAM_LOGINS', {
  record: LoginRecord,
  what: 'logins of users at MCP servers',
})

/** Whether another supervisor, by its id on the bus, is dead. */
type IsGone = (supervisor: string) => Promise<boolean>

/** What everybody may know about a login. */
export interface KnownLogin extends Omit<LoginRecord, 'sealed'> {
  /** Whether its tokens can be used, as far as this host knows. */
  readonly isUsable: boolean
}

/** A holder of a lease that is gone. */
interface Gone {
  readonly revision: number
  readonly since: number
}

/** What is needed to revoke a login. */
interface RemovedLogin {
  /** The address of its server. */
  readonly url: string
  readonly login: CompleteLogin
}

/** Keeps the login of one account for one connection, which has no other login until it is opened again. */
export interface AccountStore extends Required<LoginStore> {
  /** The id of the login that the connection has; `undefined` before it has one. */
  readonly loginId: string | undefined
  /** Whether the token that the connection has had last ends so soon that it is replaced before its next use. */
  readonly isStale: boolean
  /** Lets the connection, which is opened again, have another login. */
  release(): void
}

/** The time for which a process may change a login alone, and the pause before another asks again. */
const ALONE = { ttlMs: 10_000, retryMs: 50, patienceMs: 45_000 }
/**
 * After how many retries each the holder of the lease is probed, and for how long it must be gone: one that only connects
 * to the broker again may have the refresh token under way, which is good once.
 */
const PROBE = { retries: 4, goneMs: 3_000 }
/** The pause before tokens are written again that could not be: they exist nowhere else. */
const SAVE_RETRY_MS = 1_000
/** The time for the changes under way at the end of the process. */
const END_LIMIT_MS = 15_000

/** The logins of users at servers. Their secrets are sealed, so the bucket alone is good for nothing. */
export class LoginVault implements AsyncDisposable {
  readonly #bus: Pick<Bus, 'leases'>
  readonly #bucket: Bucket<LoginRecord>
  readonly #view: BucketView<LoginRecord>
  readonly #sealer: Sealer
  readonly #events: LoginEvents
  readonly #isGone: IsGone
  readonly #changing = new InFlight()
  /** The records by server and user, since every call looks for those of its user; absent after a change. */
  #byUser: ReadonlyMap<string, readonly LoginRecord[]> | undefined
  #isClosed = false

  private constructor(
    bus: Pick<Bus, 'leases'>,
    bucket: Bucket<LoginRecord>,
    view: BucketView<LoginRecord>,
    sealer: Sealer,
    events: LoginEvents,
    isGone: IsGone,
  ) {
    this.#bus = bus
    this.#bucket = bucket
    this.#view = view
    this.#sealer = sealer
    this.#events = events
    this.#isGone = isGone
    view.onChange(() => (this.#byUser = undefined))
  }

  static async open(
    bus: Pick<Bus, 'bucket' | 'leases'>,
    sealer: Sealer,
    events: LoginEvents,
    isGone: IsGone,
  ): Promise<LoginVault> {
    const bucket = await bus.bucket(loginsBucket)
    return new LoginVault(bus, bucket, await bucket.watch(), sealer, events, isGone)
  }

  /** Waits for the changes under way, since a token that was replaced must not be lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#changing.idle(), sleep(END_LIMIT_MS)])
    this.#isClosed = true
  }

  /** All logins; they may lag behind. */
  all(): KnownLogin[] {
    return Array.from(this.#view.records.values(), (record) => this.#known(record))
  }

  /** The logins of all users at a server; they may lag behind. */
  at({ server, url }: Pick<Account, 'server' | 'url'>): KnownLogin[] {
    return this.all().filter((login) => login.server === server && login.url === url)
  }

  /** The logins of a user at a server; they may lag behind. */
  of({ server, url, principal }: Omit<Account, 'label'>): KnownLogin[] {
    this.#byUser ??= Map.groupBy(this.#view.records.values(), userOf)
    const records = this.#byUser.get(userOf({ server, principal })) ?? []
    return records.filter((each) => each.url === url).map((record) => this.#known(record))
  }

  /** The login of an account; it may lag behind. */
  known(account: Account): KnownLogin | undefined {
    const record = this.#view.records.get(accountKey(account))
    return record?.url === account.url ? this.#known(record) : undefined
  }

  /** The login of an account, from the leader of the bucket. */
  async read(account: Account): Promise<KnownLogin | undefined> {
    const record = await this.#read(account)
    return record && this.#known(record)
  }

  /** What another login of an account begins with. */
  async earlier(account: Account): Promise<EarlierLogin> {
    const record = await this.#read(account)
    return { login: record && this.#open(record), demanded: record?.demanded }
  }

  /** Calls after each change, until disposed. */
  onChange(listener: () => void): Disposable {
    return this.#view.onChange(listener)
  }

  /** How many logins were sealed by a key that is not there. */
  get foreign(): number {
    const all = Array.from(this.#view.records.values())
    return all.filter(({ sealed }) => sealed !== undefined && !this.#sealer.knows(sealed)).length
  }

  /** Seals what an old key has sealed by the present one. Returns how many logins there were. */
  async sealAgain(): Promise<number> {
    const old = Array.from(this.#view.records.values()).filter(
      ({ sealed = '' }) => this.#sealer.knows(sealed) && this.#sealer.isOld(sealed),
    )
    const seal = (each: LoginRecord): LoginRecord => {
      try {
        return this.#seal(each, this.#open(each))
      } catch {
        // Its user logs in again.
        return this.#seal(each, undefined)
      }
    }
    for (const record of old) await this.#replace(record, record.id, seal)
    return old.length
  }

  /** What a connection of an account needs. */
  storeOf(account: Account): AccountStore {
    let loginId: string | undefined
    let latest: CompleteLogin | undefined
    return {
      get loginId() {
        return loginId
      },
      get isStale() {
        return latest !== undefined && isStale(latest)
      },
      release: () => (loginId = undefined),
      load: async () => {
        const record = await this.#read(account)
        if (loginId !== undefined && record?.id !== loginId) return undefined
        const login = record && this.#open(record)
        if (login !== undefined) loginId = record?.id
        latest = login
        return login
      },
      save: async (login) => {
        const renewedAt = this.#bucket.now()
        await this.#replace(account, loginId, (record) =>
          this.#seal({ ...record, renewedAt }, login),
        )
        latest = login
        this.#events.replaced(account, login === undefined ? 'refused' : 'ok')
      },
      needMore: (demanded) =>
        this.#replace(account, loginId, (record) => ({ ...record, demanded })),
      alone: (work) =>
        this.#alone(account, work).catch((error: unknown) => {
          this.#events.replaced(account, 'failed')
          throw error
        }),
    }
  }

  /** Begins a login. */
  add(account: Account, login: CompleteLogin): Promise<void> {
    return this.#alone(account, async () => {
      const { issuer, scope } = login
      const about = { id: crypto.randomUUID(), connectedAt: this.#bucket.now(), issuer, scope }
      await this.#bucket.put(accountKey(account), this.#seal({ ...account, ...about }, login))
      this.#events.connected(account)
    })
  }

  /**
   * Changes what the user may say about a login. Throws `not-found` without the login, and `conflict` when another one has
   * the new label.
   */
  change(account: Account, { label = account.label, isDefault }: LoginChange): Promise<void> {
    const change = (): Promise<void> => this.#change(account, label, isDefault === true)
    // Always in the same order, so that two changes do not wait for each other.
    const [first = label, second] = Array.from(new Set([account.label, label])).toSorted()
    return this.#alone({ ...account, label: first }, () =>
      second === undefined ? change() : this.#alone({ ...account, label: second }, change),
    )
  }

  /** Removes a login, and returns what is needed to revoke it. `by`: the principal that wants it. */
  remove(account: Omit<Account, 'url'>, by: string): Promise<RemovedLogin | undefined> {
    return this.#alone(account, async () => {
      const key = accountKey(account)
      const found = await this.#bucket.get(key)
      if (found === undefined) return undefined
      await this.#bucket.remove(key)
      const { url } = found.record
      this.#events.disconnected({ ...account, url }, by)
      const login = this.#open(found.record)
      return login && { url, login }
    })
  }

  /** The record of an account at the address of its server. */
  async #read(account: Account): Promise<LoginRecord | undefined> {
    const found = await this.#bucket.get(accountKey(account))
    return found?.record.url === account.url ? { ...found.record, ...account } : undefined
  }

  async #change(account: Account, label: string, isDefault: boolean): Promise<void> {
    const known = await this.#read(account)
    const at = `at "${account.server}"`
    if (known === undefined) {
      throw new BusError('not-found', `you have no login "${account.label}" ${at}`)
    }
    if (isDefault) {
      const defaultSince = this.#bucket.now()
      await this.#replace(account, known.id, (record) => ({ ...record, defaultSince }))
    }
    if (label === account.label) return
    const key = accountKey({ ...account, label })
    const there = await this.#bucket.get(key)
    // A change that broke off has left the login itself there, and a server that moved one for its earlier address.
    const isFree =
      there === undefined || there.record.id === known.id || there.record.url !== account.url
    if (!isFree) throw new BusError('conflict', `you have another login "${label}" ${at}`)
    const latest = (await this.#read(account)) ?? known
    // The seal is bound to the label.
    const renamed = this.#seal({ ...latest, label }, this.#open(latest))
    await this.#bucket.put(key, renamed, { revision: there?.revision ?? 0 })
    await this.#bucket.remove(accountKey(account))
  }

  /** Changes the login with an id, until that is written or there is another one. */
  async #replace(
    account: Account,
    id: string | undefined,
    change: (record: LoginRecord) => LoginRecord,
  ): Promise<void> {
    using _running = this.#changing.begin()
    const key = accountKey(account)
    for (;;) {
      try {
        const before = await this.#bucket.get(key)
        // The user has disconnected or logged in anew meanwhile.
        if (before === undefined || before.record.id !== id) return
        await this.#bucket.put(key, change(before.record), { revision: before.revision })
        return
      } catch (error) {
        if (this.#isClosed || !BusError.from(error).retryable) throw error
        await sleep(SAVE_RETRY_MS)
      }
    }
  }

  #known({ sealed, ...record }: LoginRecord): KnownLogin {
    return { ...record, isUsable: sealed !== undefined && this.#sealer.knows(sealed) }
  }

  #seal(before: LoginRecord, login: CompleteLogin | undefined): LoginRecord {
    const { sealed: _, ...about } = before
    if (login === undefined) return about
    const record = { ...about, issuer: login.issuer, scope: login.scope }
    return { ...record, sealed: this.#sealer.seal(login, placeOf(record)) }
  }

  /** `undefined` when the user has to log in again, also since the key of the seal is gone. */
  #open(record: LoginRecord): CompleteLogin | undefined {
    const { sealed } = record
    if (sealed === undefined) return undefined
    // The seal proves that this class wrote it.
    return this.#sealer.open(sealed, placeOf(record)) as CompleteLogin | undefined
  }

  /** Asks whether the holder of a lease lives. `before`: what was found the last time. */
  async #probe(key: string, before: Gone | undefined): Promise<Gone | undefined> {
    const held = await this.#bus.leases.holder(key)
    if (held === undefined || !(await this.#isGone(held.holder))) return undefined
    const { revision } = held
    return before?.revision === revision ? before : { revision, since: performance.now() }
  }

  /** Runs work that no other process may do for the account at the same time. */
  async #alone<T>(account: Omit<Account, 'url'>, work: () => Promise<T>): Promise<T> {
    using _running = this.#changing.begin()
    const key = `login.${accountKey(account)}`
    const giveUpAt = performance.now() + ALONE.patienceMs
    let gone: Gone | undefined
    for (let tries = 1; ; tries += 1) {
      const free = await this.#bus.leases.acquire(key, { ttlMs: ALONE.ttlMs })
      if (free === undefined && tries % PROBE.retries === 0) gone = await this.#probe(key, gone)
      const lease =
        gone !== undefined && performance.now() - gone.since > PROBE.goneMs
          ? await this.#bus.leases.take(key, gone.revision, { ttlMs: ALONE.ttlMs })
          : free
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

function userOf({ server, principal }: Pick<Account, 'server' | 'principal'>): string {
  return `${server} ${principal}`
}

/** What sealed values are bound to. */
function placeOf({ server, url, principal, label, id, issuer }: LoginRecord): string {
  return JSON.stringify([server, url, principal, label, id, issuer])
}

import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, hasAdminRole } from '@mcp-host/contracts'
import type { AccountRecord } from './account.ts'
import { accountKey, accountPrincipalId, accountsBucket, isProviderUser } from './account.ts'
import { delayUntil } from './delay-until.ts'

/** Limit for the tries of a change, each of which fails when another process writes first. */
const TRIES = 5
const CLOCK_ERROR_MS = 250
const SECOND_MS = 1_000

/** The maker of the first admin. */
export const FIRST_ADMIN_MAKER = 'system'

export interface NewAccount extends Pick<AccountRecord, 'name' | 'roles' | 'createdBy'> {
  /** See `hashPassword`. */
  readonly password?: string | undefined
}

/** The fields of an account that can be changed. */
export type AccountChanges = Partial<Pick<AccountRecord, 'roles' | 'isDisabled' | 'password'>>

/** The accounts of the host, shared by all its processes. */
export class Accounts {
  readonly #bucket: Bucket<AccountRecord>
  readonly #view: BucketView<AccountRecord>
  /** The records by principal, since keys take long to encode; absent after a change. */
  #byPrincipal?: ReadonlyMap<string, AccountRecord> | undefined

  private constructor(bucket: Bucket<AccountRecord>, view: BucketView<AccountRecord>) {
    this.#bucket = bucket
    this.#view = view
    view.onChange(() => (this.#byPrincipal = undefined))
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<Accounts> {
    const bucket = await bus.bucket(accountsBucket)
    return new Accounts(bucket, await bucket.watch())
  }

  /** All accounts by name, from the watched copy. */
  get list(): readonly AccountRecord[] {
    return this.#sorted.filter(({ name }) => !isProviderUser(name))
  }

  /** The users of identity providers that are disabled here, by principal. */
  get disabledUsers(): readonly string[] {
    return this.#sorted.map(({ name }) => name).filter(isProviderUser)
  }

  get #sorted(): AccountRecord[] {
    return Array.from(this.#view.records.values()).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Whether an admin can log in. */
  get hasAdmin(): boolean {
    return this.list.some(isActiveAdmin)
  }

  /** Whether an account has a password. Until then nobody can log in. */
  get hasLogin(): boolean {
    return this.list.some(({ password }) => password !== undefined)
  }

  /**
   * The first admin of the installation, from the watched copy, who also owns the sessions of `LOCAL`. It stays the same:
   * accounts are never deleted, and a later link creates a later account.
   */
  get firstAdmin(): AccountRecord | undefined {
    const made = this.list.filter(({ createdBy }) => createdBy === FIRST_ADMIN_MAKER)
    return made.toSorted((a, b) => a.createdAt - b.createdAt)[0]
  }

  /** An account, from the watched copy. */
  find(name: string): AccountRecord | undefined {
    return this.#view.records.get(accountKey(name))
  }

  /**
   * The account that a principal is, or the record of a user of an identity provider that is disabled, from the watched
   * copy; `undefined` for other principals.
   */
  ofPrincipal(principal: string): AccountRecord | undefined {
    this.#byPrincipal ??= new Map(
      Array.from(this.#view.records.values(), (each) => [
        isProviderUser(each.name) ? each.name : accountPrincipalId(each.name),
        each,
      ]),
    )
    return this.#byPrincipal.get(principal)
  }

  /** An account, read from the broker, since another process may have changed it just before. */
  async read(name: string): Promise<AccountRecord | undefined> {
    return (await this.#bucket.get(accountKey(name)))?.record
  }

  /** Calls after each change, until disposed. */
  onChange(listener: () => void): Disposable {
    return this.#view.onChange(listener)
  }

  /** Creates an account. Throws `conflict` when the name is taken. */
  async create({ name, roles, createdBy, password }: NewAccount): Promise<AccountRecord> {
    const now = this.#bucket.now()
    const record: AccountRecord = {
      name,
      roles,
      createdAt: now,
      createdBy,
      isDisabled: false,
      validFrom: Math.floor(now / SECOND_MS) * SECOND_MS,
      ...(password === undefined ? {} : { password }),
    }
    try {
      await this.#bucket.put(accountKey(name), record, { revision: 0 })
    } catch (error) {
      if (BusError.from(error).code !== 'conflict') throw error
      throw accountExists(name, error)
    }
    return record
  }

  /** Throws where `change` would refuse the changes of an account: an audit entry is written before the change. */
  async checkChange(name: string, changes: AccountChanges): Promise<void> {
    const found = await this.read(name)
    if (found === undefined) throw noAccount(name)
    this.#checkAdmins(found, { ...found, ...changes })
  }

  /**
   * Changes an account; another password and its end as a whole end its invitations. Throws `not-found`, and `conflict`
   * when no admin could log in any more.
   */
  async change(
    name: string,
    changes: AccountChanges & Partial<Pick<AccountRecord, 'validFrom' | 'invitation'>>,
  ): Promise<AccountRecord> {
    const endsInvitations = changes.isDisabled === true || changes.password !== undefined
    const ended = endsInvitations ? { invitation: '' } : {}
    for (let tried = 1; ; tried++) {
      const found = await this.#bucket.get(accountKey(name))
      if (found === undefined) throw noAccount(name)
      const record = { ...found.record, ...changes, ...ended }
      this.#checkAdmins(found.record, record)
      // Each end of logins is later than the one before, also within the same second: logins are compared with it.
      if (changes.validFrom !== undefined) {
        record.validFrom = Math.max(changes.validFrom, found.record.validFrom + SECOND_MS)
      }
      try {
        await this.#bucket.put(accountKey(name), record, { revision: found.revision })
        return record
      } catch (error) {
        if (BusError.from(error).code !== 'conflict' || tried === TRIES) throw error
      }
    }
  }

  /**
   * Changes an account and ends its logins and tokens. Tokens have the second of their issue, so the account must not
   * log in again within the same second: resolves when new logins and tokens are valid.
   */
  async endLogins(name: string, changes: AccountChanges = {}): Promise<AccountRecord> {
    const validFrom = (Math.floor(this.#bucket.now() / SECOND_MS) + 1) * SECOND_MS
    const changed = await this.change(name, { ...changes, validFrom })
    // Another gateway may know the time of the broker less exactly.
    await delayUntil(changed.validFrom + CLOCK_ERROR_MS, () => this.#bucket.now())
    return changed
  }

  /** Disables a user of an identity provider, and all that stands for the user, until `enableUser`. */
  async disableUser(principal: string, createdBy: string): Promise<void> {
    const now = this.#bucket.now()
    await this.#bucket.put(accountKey(principal), {
      name: principal,
      roles: [],
      createdAt: now,
      createdBy,
      isDisabled: true,
      validFrom: now,
    })
  }

  async enableUser(principal: string): Promise<void> {
    await this.#bucket.remove(accountKey(principal))
  }

  #checkAdmins(before: AccountRecord, after: AccountRecord): void {
    const { name } = before
    const hasOther = this.list.some((each) => each.name !== name && isActiveAdmin(each))
    if (!isActiveAdmin(before) || isActiveAdmin(after) || hasOther) return
    const message = `${name} is the last admin who can log in; make another account admin first`
    throw new BusError('conflict', message)
  }
}

export function accountExists(name: string, cause?: unknown): BusError {
  const message = `name: there is an account "${name}" already`
  return new BusError('conflict', message, { field: 'name', cause })
}

export function noAccount(name: string): BusError {
  return new BusError('not-found', `name: there is no account "${name}"`, { field: 'name' })
}

function isActiveAdmin({ roles, isDisabled, password }: AccountRecord): boolean {
  return hasAdminRole({ roles }) && !isDisabled && password !== undefined
}

/** Whether a login or token that was issued at a time is still valid. */
export function isLoginValid(
  account: AccountRecord | undefined,
  loggedInAt: number,
): account is AccountRecord {
  return account !== undefined && !account.isDisabled && loggedInAt >= account.validFrom
}

import type { AccountRecord, Accounts, ApiKeyRecord, Makers } from '@mcp-host/auth'
import { apiKeys, holdersOfKey, isProviderUser, operatorKeyRecord } from '@mcp-host/auth'
import type { BucketView, Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import { hasAdminRole } from '@mcp-host/contracts'
import type { Config } from '@mcp-host/service'
import type { authSettings } from './auth-settings.ts'

export interface MakerCheckDeps {
  readonly bus: Pick<Bus, 'bucket'>
  readonly accounts: Pick<Accounts, 'ofPrincipal'>
}

/** Checks, from watched records, whether the accounts and API keys for which something stands are in order. */
export class MakerCheck {
  readonly #accounts: MakerCheckDeps['accounts']
  readonly #keys: BucketView<ApiKeyRecord> | undefined
  readonly #operator: ReturnType<typeof operatorKeyRecord> | undefined
  /** Keys whose accounts lack some of the roles, so that callers get the same object for each request. */
  readonly #reduced = new WeakMap<ApiKeyRecord, ApiKeyRecord>()

  private constructor(
    accounts: MakerCheckDeps['accounts'],
    keys: BucketView<ApiKeyRecord> | undefined,
    operatorKey: string | undefined,
  ) {
    this.#accounts = accounts
    this.#keys = keys
    this.#operator = operatorKey === undefined ? undefined : operatorKeyRecord(operatorKey)
  }

  static async open(
    { bus, accounts }: MakerCheckDeps,
    { auth, operatorKey }: Pick<Config<typeof authSettings>, 'auth' | 'operatorKey'>,
  ): Promise<MakerCheck> {
    const keys = auth.includes('keys') ? await (await bus.bucket(apiKeys)).watch() : undefined
    return new MakerCheck(accounts, keys, operatorKey)
  }

  /** Whether keys besides the operator's are accepted. */
  get hasKeys(): boolean {
    return this.#keys !== undefined
  }

  /** A key with the roles that its holders still have; `undefined` while one of the holders is not in order. */
  keyOf(id: string): ApiKeyRecord | undefined {
    const record = this.#find(id)
    if (record === undefined) return undefined
    const holders = holdersOfKey(record)
    const accounts = this.#accountsOf(holders)
    if (!this.#areInOrder(accounts, holders.keys)) return undefined
    const roles = record.roles.filter((role) => accounts.every((each) => hasRole(each, role)))
    return roles.length === record.roles.length ? record : this.#reduce(record, roles)
  }

  /**
   * Whether all accounts are enabled and all keys accepted and, with `role`, whether the accounts have it. Principals
   * without an account of this host are in order, but for disabled users of identity providers.
   */
  areInOrder(makers: Makers, role?: string): boolean {
    return this.#areInOrder(this.#accountsOf(makers), makers.keys, role)
  }

  /**
   * Whether an account, or a key of the principal, still has roles. Users of identity providers keep theirs, until they
   * are disabled.
   */
  hasRoles(principal: string, roles: readonly string[]): boolean {
    const account = this.#accounts.ofPrincipal(principal)
    if (account !== undefined) {
      return !account.isDisabled && roles.every((role) => hasRole(account, role))
    }
    if (this.#keys === undefined || isProviderUser(principal)) return true
    return Array.from(this.#keys.records).some(
      ([id, record]) =>
        record.principal === principal &&
        this.#isUnexpired(id) &&
        roles.every((role) => this.keyOf(id)?.roles.includes(role)),
    )
  }

  /** Whether a user of an identity provider is disabled at this host. */
  isDisabled({ id }: Pick<Principal, 'id'>): boolean {
    return this.#accounts.ofPrincipal(id)?.isDisabled === true
  }

  #accountsOf({ principals }: Makers): AccountRecord[] {
    return principals.flatMap((principal) => this.#accounts.ofPrincipal(principal) ?? [])
  }

  #areInOrder(accounts: readonly AccountRecord[], keys: readonly string[], role?: string): boolean {
    return (
      accounts.every((each) => !each.isDisabled && (role === undefined || hasRole(each, role))) &&
      keys.every((id) => this.#isUnexpired(id))
    )
  }

  #isUnexpired(id: string): boolean {
    const { expiresAt = Infinity } = this.#find(id) ?? { expiresAt: 0 }
    return expiresAt > Date.now()
  }

  #find(id: string): ApiKeyRecord | undefined {
    return id === this.#operator?.id ? this.#operator.record : this.#keys?.records.get(id)
  }

  #reduce(record: ApiKeyRecord, roles: string[]): ApiKeyRecord {
    const known = this.#reduced.get(record)
    if (known?.roles.join(' ') === roles.join(' ')) return known
    const reduced = { ...record, roles }
    this.#reduced.set(record, reduced)
    return reduced
  }
}

/** Admins can give away every role. */
function hasRole(account: AccountRecord, role: string): boolean {
  return hasAdminRole(account) || account.roles.includes(role)
}

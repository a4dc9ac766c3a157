import type { Principal } from '@mcp-host/contracts'
import { defineBucket, PrincipalId, RoleName, SCOPES } from '@mcp-host/contracts'
import { z } from 'zod'

/**
 * The name of an account, in lower case. It identifies the account for good, so accounts are disabled instead of
 * deleted.
 */
export const AccountName = z
  .string()
  .transform((name) => name.trim().toLowerCase())
  .pipe(
    z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9._@+-]{0,63}$/,
        'must begin with a letter or digit and have 1 to 64 letters, digits, ., _, -, @ or +',
      ),
  )

/** An account of the host itself, as it is stored, or a user of an identity provider that is disabled here. */
export const AccountRecord = z.object({
  /** For a user of an identity provider, the id of the principal, which no account can have as its name. */
  name: z.string().max(200),
  roles: z.array(RoleName).max(32),
  /** See `hashPassword`. Absent until the invitation of the account is used. */
  password: z.string().optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  createdBy: PrincipalId,
  isDisabled: z.boolean(),
  /**
   * SHA-256 of the token of its valid invitation, in hexadecimal digits; empty: it has none. Absent: each of its
   * invitations is valid until it expires.
   */
  invitation: z.string().optional(),
  /** Logins and tokens that were issued earlier are invalid. Epoch milliseconds, a whole second. */
  validFrom: z.number(),
})
export type AccountRecord = z.infer<typeof AccountRecord>

/** All accounts, by `accountKey`. */
export const accountsBucket = defineBucket('ACCOUNTS', { record: AccountRecord, what: 'accounts' })

/** The key of an account. The name is encoded, since it may have characters that keys must not have. */
export function accountKey(name: string): string {
  return Buffer.from(name).toString('base64url')
}

const PRINCIPAL = 'user:'

export function accountPrincipalId(name: string): string {
  return PrincipalId.parse(PRINCIPAL + name)
}

/** Whether a principal is, or a record stands for, a user of an identity provider. */
export function isProviderUser(id: string): boolean {
  return id.startsWith('oidc:')
}

/** The principal of an account that has logged in. */
export function principalOfAccount(
  { name, roles }: Pick<AccountRecord, 'name' | 'roles'>,
  { method, scopes = SCOPES }: Pick<Principal, 'method'> & { readonly scopes?: readonly Scope[] },
): Principal {
  return {
    id: accountPrincipalId(name),
    issuer: 'host',
    method,
    roles: [...roles],
    scopes: [...scopes],
  }
}

type Scope = Principal['scopes'][number]

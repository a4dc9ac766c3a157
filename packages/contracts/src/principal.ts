import { z } from 'zod'

/**
 * The possible scopes of a token. A principal without tokens has all of them. `decide`: to approve tool calls and to share
 * sessions, which `chat` alone does not allow.
 */
export const SCOPES = ['mcp', 'chat', 'decide', 'audit', 'admin'] as const
export const Scope = z.enum(SCOPES)
export type Scope = z.infer<typeof Scope>

/** The scopes in a record. Those that a later version has written are left out, and the rest counts. */
export const RecordedScopes = z
  .array(z.string())
  .transform((all) => SCOPES.filter((scope) => all.includes(scope)))
  .pipe(z.array(Scope))

/** Roles that the host itself knows; policies may name others. `admin` may do what every other role may. */
export const BUILT_IN_ROLES = ['user', 'auditor', 'admin'] as const

/** Limits of role names: no white space or commas, so that a list of them fits into one header. */
export const RoleName = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'must have 1 to 64 letters, digits, _, -, . or :')

/**
 * The id of a principal, unique in an installation. It has no white space, since ids are written into headers and logs.
 */
export const PrincipalId = z
  .string()
  .regex(/^[\u0021-\u007E]{1,200}$/, 'must have 1 to 200 printable characters without spaces')

/** A client of the host, as its entrance has authenticated it. */
export const Principal = z.object({
  /** `local`, or with its kind: `key:ci`, `user:ann`, `oidc:1234`. */
  id: PrincipalId,
  /** The authority that issued it: the host itself, or the URL of an identity provider. */
  issuer: z.string(),
  method: z.enum(['none', 'key', 'oidc', 'session']),
  roles: z.array(RoleName),
  scopes: RecordedScopes,
})
export type Principal = z.infer<typeof Principal>

/**
 * The principal without authentication. It also owns everything that was stored before authentication was turned on.
 */
export const LOCAL: Principal = {
  id: 'local',
  issuer: 'host',
  method: 'none',
  roles: ['admin'],
  scopes: [...SCOPES],
}

/** Whether an account or a key may ever act as admin. Grants nothing by itself: see `isAdmin`. */
export function hasAdminRole({ roles }: { readonly roles: readonly string[] }): boolean {
  return roles.includes('admin')
}

/**
 * Whether a principal acts as admin: it has the role, and its credential the scope. Envelopes of earlier versions have no
 * scopes (`undefined`): there the role decides.
 */
export function isAdmin({
  roles = [],
  scopes,
}: {
  readonly roles: readonly string[] | undefined
  readonly scopes: readonly string[] | undefined
}): boolean {
  return hasAdminRole({ roles }) && (scopes?.includes('admin') ?? true)
}

/** The principal of an unauthenticated client at a public address. */
export const NOBODY: Principal = {
  id: 'nobody',
  issuer: 'host',
  method: 'none',
  roles: [],
  scopes: [],
}

import { AuthError } from '@mcp-host/auth'
import type { Principal, Scope } from '@mcp-host/contracts'
import { BusError, hasAdminRole, isAdmin } from '@mcp-host/contracts'

/**
 * The credential that a route requires: none, the secret in its address, one of any principal, or one with a scope.
 * `admin` and `audit` also require a role.
 */
export type Access = 'public' | 'link' | 'any' | Scope

/** The required access by path prefix. The first prefix that matches decides. */
const ACCESS: readonly (readonly [prefix: string, access: Access])[] = [
  ['/.well-known/', 'public'],
  ['/api/accounts', 'admin'],
  ['/api/approvals', 'chat'],
  ['/api/audit/', 'audit'],
  ['/api/audit', 'any'],
  ['/api/chat/', 'chat'],
  ['/api/changed-tools', 'admin'],
  ['/api/keys', 'admin'],
  ['/api/limits', 'admin'],
  ['/api/maintenance', 'admin'],
  ['/api/me', 'any'],
  ['/api/policy', 'admin'],
  ['/api/connections', 'any'],
  ['/api/file-faults', 'admin'],
  ['/api/servers', 'admin'],
  ['/api/shared/', 'link'],
  ['/api/tickets', 'any'],
  ['/app-sandbox', 'public'],
  ['/assets/', 'public'],
  ['/auth/', 'public'],
  ['/capabilities', 'mcp'],
  ['/connect', 'public'],
  ['/health', 'public'],
  ['/invite/', 'public'],
  ['/login', 'public'],
  ['/logout', 'public'],
  ['/mcp', 'mcp'],
  ['/metrics', 'admin'],
  ['/openapi.json', 'public'],
  ['/ready', 'public'],
  ['/users/', 'public'],
  ['/ws', 'chat'],
]

/** The access that a route requires. Routes without a line in the table (`undefined`) must not be served. */
export function accessOf(url: string): Access | undefined {
  if (url === '/' || url === '*') return 'public'
  return ACCESS.find(([prefix]) => url.startsWith(prefix))?.[1]
}

/** Throws `AuthError` when the principal lacks the scope, `denied` when it lacks the role. */
export function checkAccess(principal: Principal, access: Access): void {
  if (access === 'any' && principal.scopes.length === 0) {
    throw new AuthError('insufficient_scope', 'this needs a scope of this host')
  }
  if (!isScope(access)) return
  if (!principal.scopes.includes(access)) {
    // Decisions are about chats: a client that requests `decide` alone would lose its access to them.
    const needed: Scope[] = access === 'decide' ? ['chat', access] : [access]
    throw new AuthError('insufficient_scope', `this needs the scope ${access}`, needed)
  }
  if (access === 'admin' && !isAdmin(principal)) {
    throw new BusError('denied', 'this needs the role admin')
  }
  if (access === 'audit' && !hasAdminRole(principal) && !principal.roles.includes('auditor')) {
    throw new BusError('denied', 'this needs the role auditor')
  }
}

/** Whether a principal acts for a user: in chats, or by MCP. */
export function isUser({ scopes }: Pick<Principal, 'scopes'>): boolean {
  return scopes.includes('mcp') || scopes.includes('chat')
}

/** Whether a route can be used without a credential. */
export function isOpen(access: Access | undefined): boolean {
  return access === 'public' || access === 'link'
}

/** Whether a route requires a scope. */
export function isScope(access: Access | undefined): access is Scope {
  return access !== undefined && access !== 'any' && !isOpen(access)
}

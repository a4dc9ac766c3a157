import { AuthError } from '@mcp-host/auth'
import type { Principal } from '@mcp-host/contracts'
import { isUser } from '../../auth/access.ts'

/** Logins are for chats and programs. Throws `AuthError` for a credential that is good for neither. */
export function needUser(principal: Principal): void {
  if (isUser(principal)) return
  throw new AuthError('insufficient_scope', 'this needs the scope mcp or chat', ['mcp'])
}

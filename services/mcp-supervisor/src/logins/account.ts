import { createHash } from 'node:crypto'
import { ServerName } from '@mcp-host/contracts'
import { z } from 'zod'

/** The login of one user at one server. */
export const Account = z.object({
  server: ServerName,
  /** The address of the server, since no other one may get the tokens. */
  url: z.string(),
  principal: z.string(),
  /** Tells several logins of the user at the server apart. */
  label: z.string(),
})
export type Account = z.infer<typeof Account>

/** The key of an account in buckets and leases. Principals and labels may have any characters. */
export function accountKey({ server, principal, label }: Omit<Account, 'url'>): string {
  return `${server}.${digest(principal)}.${digest(label)}`
}

/** A text of 22 letters, digits, `-` and `_`. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

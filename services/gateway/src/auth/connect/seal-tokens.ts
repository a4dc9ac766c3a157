import type { Bus } from '@mcp-host/bus'
import type { BroughtTokens, Envelope } from '@mcp-host/contracts'
import { BusError, readLoginKeys } from '@mcp-host/contracts'
import { CompactEncrypt, importJWK } from 'jose'

const LIMIT_MS = 10_000

interface Owner {
  readonly server: string
  readonly label: string
}

/** Encrypts tokens for the supervisors, so that nobody else on the bus can read them. */
export async function sealTokens(
  bus: Pick<Bus, 'call'>,
  envelope: Envelope,
  owner: Owner,
  tokens: BroughtTokens,
): Promise<string> {
  const { inbox } = await bus.call(readLoginKeys, {}, {}, { envelope, timeoutMs: LIMIT_MS })
  if (inbox === undefined) {
    throw new BusError('not-found', `users cannot log in at "${owner.server}"`, { field: 'server' })
  }
  const { principal } = envelope
  const plain = new TextEncoder().encode(JSON.stringify({ ...tokens, ...owner, principal }))
  const { kid } = inbox
  return new CompactEncrypt(plain)
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', ...(kid && { kid }) })
    .encrypt(await importJWK(inbox, 'ECDH-ES'))
}

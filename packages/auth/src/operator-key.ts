import { createHash } from 'node:crypto'
import { LOCAL } from '@mcp-host/contracts'
import type { ApiKeyRecord } from './api-key.ts'
import { newApiKey, parseApiKey } from './api-key.ts'

/** An id and the SHA-256 of a secret, as `0123456789ab:…`: an API key that needs no record on the broker. */
export const OPERATOR_KEY = /^[0-9a-f]{12}:[0-9a-f]{64}$/

const ABOUT = {
  name: 'operator',
  principal: LOCAL.id,
  roles: LOCAL.roles,
  scopes: LOCAL.scopes,
  createdBy: LOCAL.id,
}

/**
 * Creates a key for the operator of a host. Its principal is an admin and owns everything that was stored without
 * authentication.
 */
export function newOperatorKey(): string {
  return newApiKey(ABOUT, Date.now()).key
}

/** Parses the setting with the hash of such a key. Throws for another text. */
export function operatorKeySetting(key: string): string {
  const parts = parseApiKey(key)
  if (parts === undefined) throw new Error('the key of the operator is not an API key')
  return `${parts.id}:${createHash('sha256').update(parts.secret).digest('hex')}`
}

/** The record of a key by its setting. */
export function operatorKeyRecord(setting: string): { id: string; record: ApiKeyRecord } {
  const [id = '', digest = ''] = setting.split(':')
  return { id, record: { ...ABOUT, digest, createdAt: 0 } }
}

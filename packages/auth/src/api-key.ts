import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal, Scope } from '@mcp-host/contracts'
import { defineBucket, PrincipalId, RecordedScopes, RoleName } from '@mcp-host/contracts'
import { z } from 'zod'
import { Makers, makersIn } from './makers.ts'

const ID_BYTES = 6
const SECRET_BYTES = 32
const FORMAT = new RegExp(`^mh_([0-9a-f]{${2 * ID_BYTES}})_([0-9a-f]{${2 * SECRET_BYTES}})$`)

/** The record of an API key, without the key itself. */
export const ApiKeyRecord = z.object({
  /** The use of the key, in its owner's words. */
  name: z.string().max(100),
  /** SHA-256 of the secret, in hexadecimal digits. */
  digest: z.string().length(64),
  principal: PrincipalId,
  roles: z.array(RoleName).max(32),
  scopes: RecordedScopes,
  /** Whether `scopes` names `decide` where the key has it. Without this mark a key has it together with `chat`. */
  namesDecide: z.literal(true).optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  createdBy: PrincipalId,
  makers: Makers.optional(),
  /** In records of earlier versions that a key has created: the principal at the beginning of the chain. */
  owner: PrincipalId.optional(),
  /** Epoch milliseconds; absent: the key is valid until it is revoked. */
  expiresAt: z.number().optional(),
})
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>

/** All API keys by their ids. */
export const apiKeys = defineBucket('APIKEYS', { record: ApiKeyRecord, what: 'API keys' })

/** The principals and keys for which a key stands: its own principal, and all by which it was made. */
export function holdersOfKey(record: ApiKeyRecord): Makers {
  const { principal, owner = principal } = record
  const { principals, keys } = makersIn(record)
  return { principals: [...new Set([principal, owner, ...principals])], keys }
}

/** The ids of the keys that were made by a key, also by others in between. */
export function keysMadeBy(id: string, keys: ReadonlyMap<string, ApiKeyRecord>): string[] {
  return Array.from(keys).flatMap(([made, { makers }]) =>
    makers?.keys.includes(id) === true ? [made] : [],
  )
}

/** Creates a key. `key` is shown to its owner once. */
export function newApiKey(
  about: Omit<ApiKeyRecord, 'digest' | 'createdAt' | 'namesDecide'>,
  now: number,
): { readonly id: string; readonly key: string; readonly record: ApiKeyRecord } {
  const id = randomBytes(ID_BYTES).toString('hex')
  const secret = randomBytes(SECRET_BYTES).toString('hex')
  return {
    id,
    key: `mh_${id}_${secret}`,
    record: {
      ...about,
      namesDecide: true,
      digest: digestOf(secret).toString('hex'),
      createdAt: now,
    },
  }
}

/** The parts of a key; `undefined` for other tokens. */
export function parseApiKey(
  token: string,
): { readonly id: string; readonly secret: string } | undefined {
  const [, id, secret] = FORMAT.exec(token) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

/** The principal of a key; `undefined` when the secret is wrong or the key has expired. */
export function principalOfKey(
  record: ApiKeyRecord,
  secret: string,
  now: number,
): Principal | undefined {
  return isRight(record, secret) ? holderOfKey(record, now) : undefined
}

/** Caches correct secrets, since most requests come with a key that was used before. */
const rightSecrets = new WeakMap<ApiKeyRecord, Buffer>()

function isRight(record: ApiKeyRecord, secret: string): boolean {
  const given = Buffer.from(secret)
  const right = rightSecrets.get(record)
  if (right !== undefined) return right.length === given.length && timingSafeEqual(given, right)
  if (!timingSafeEqual(digestOf(secret), Buffer.from(record.digest, 'hex'))) return false
  rightSecrets.set(record, given)
  return true
}

const holders = new WeakMap<ApiKeyRecord, Principal>()

/** The principal of a key whose secret was checked before, always the same object; `undefined` when the key has expired. */
export function holderOfKey(record: ApiKeyRecord, now: number): Principal | undefined {
  const { principal, roles, expiresAt = Infinity } = record
  if (expiresAt <= now) return undefined
  const known = holders.get(record)
  if (known !== undefined) return known
  const scopes = scopesOfKey(record)
  const holder: Principal = { id: principal, issuer: 'host', method: 'key', roles, scopes }
  holders.set(record, holder)
  return holder
}

/** The scopes of a key. */
export function scopesOfKey({ scopes, namesDecide }: ApiKeyRecord): Scope[] {
  const isAdded = namesDecide !== true && scopes.includes('chat') && !scopes.includes('decide')
  return isAdded ? [...scopes, 'decide'] : scopes
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

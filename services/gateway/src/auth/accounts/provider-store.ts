import { createHash } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { errors } from 'oidc-provider'
import { z } from 'zod'
import type { Revocations } from '../session/revocations.ts'

/**
 * Time in which a second use of a refresh token counts as a retry: a client may refresh twice at once, or lose the
 * answer.
 */
const REUSE_TOLERANCE_SECONDS = 10
/** The lifetime of a registration without a consent: anybody may register a client. */
const UNUSED_CLIENT_MS = 86_400_000
/** The lifetime of a registration with a consent: longer than grants last, so that clients in use stay registered. */
const CLIENT_MS = 365 * UNUSED_CLIENT_MS

/** The kind of records that find sessions by their public id. */
const SESSION_UID = 'SessionUid'

/** A record of the library, which alone knows its fields. */
const ProviderRecord = z.looseObject({})
const providerBucket = defineBucket('OAUTH', {
  record: ProviderRecord,
  what: 'grants of the authorization server',
})
type ProviderRecord = z.infer<typeof ProviderRecord>

/** The state of the authorization server: clients, grants, codes, refresh tokens and interactions. */
export class ProviderStore {
  readonly #bucket: Bucket<ProviderRecord>
  readonly #revocations: Revocations
  readonly #tokenLifeMs: number

  private constructor(
    bucket: Bucket<ProviderRecord>,
    revocations: Revocations,
    tokenLifeMs: number,
  ) {
    this.#bucket = bucket
    this.#revocations = revocations
    this.#tokenLifeMs = tokenLifeMs
  }

  /** `tokenLifeMs`: the lifetime of access tokens, which are not stored. */
  static async open(
    bus: Pick<Bus, 'bucket'>,
    revocations: Revocations,
    tokenLifeMs: number,
  ): Promise<ProviderStore> {
    return new ProviderStore(await bus.bucket(providerBucket), revocations, tokenLifeMs)
  }

  /** The storage of one kind of record, as the library requires it. */
  adapter(model: string): Adapter {
    const bucket = this.#bucket
    const keyOf = (id: string): string => recordKey(model, id)
    return {
      find: async (id) => {
        const found = await bucket.get(keyOf(id))
        return found === undefined ? undefined : toPayload(model, found.record)
      },
      upsert: async (id, payload, expiresIn) => {
        const ttlMs =
          model === 'Client'
            ? UNUSED_CLIENT_MS
            : expiresIn === undefined
              ? undefined
              : Math.max(1, expiresIn) * 1_000
        // The scope is left out: clients register the one of their first challenge, and could request no other later.
        const { scope: _, ...client } = payload
        const record = { ...(model === 'Client' ? client : payload) }
        const options = ttlMs === undefined ? {} : { ttlMs }
        await bucket.put(keyOf(id), record, options)
        // The public id of a session stays the same when the library replaces its secret id.
        if (model === 'Session' && payload.uid !== undefined) {
          await bucket.put(recordKey(SESSION_UID, payload.uid), { id }, options)
        }
      },
      consume: (id) => this.#consume(model, id),
      destroy: async (id) => {
        if (model === 'Grant') await this.#revokeGrant(id)
        else await bucket.remove(keyOf(id))
      },
      // Codes and refresh tokens are refused once their grant is gone.
      revokeByGrantId: (grantId) => this.#revokeGrant(grantId),
      findByUid: async (uid) => {
        const id = (await bucket.get(recordKey(SESSION_UID, uid)))?.record['id']
        if (typeof id !== 'string') return undefined
        const found = await bucket.get(keyOf(id))
        return found === undefined ? undefined : found.record
      },
      findByUserCode: async () => undefined,
    }
  }

  /** Keeps the registration of a client with a consent. */
  async keepClient(id: string): Promise<void> {
    const key = recordKey('Client', id)
    const found = await this.#bucket.get(key)
    // Clients with a metadata document are not stored.
    if (found === undefined) return
    await this.#bucket.put(key, found.record, { ttlMs: CLIENT_MS })
  }

  /** Ends a grant, so that all gateways refuse its tokens. */
  withdraw(grantId: string): Promise<void> {
    return this.#revokeGrant(grantId)
  }

  async hasGrant(grantId: string): Promise<boolean> {
    return (await this.#bucket.get(recordKey('Grant', grantId))) !== undefined
  }

  async #revokeGrant(id: string): Promise<void> {
    await this.#revocations.add(grantRevocation(id), this.#tokenLifeMs)
    await this.#bucket.remove(recordKey('Grant', id))
  }

  /** Marks a code or token as used. Only one of several requests with the same code succeeds. */
  async #consume(model: string, id: string): Promise<void> {
    const key = recordKey(model, id)
    const now = Math.floor(Date.now() / 1_000)
    for (;;) {
      const found = await this.#bucket.get(key)
      if (found === undefined) throw new errors.InvalidGrant('it has expired')
      const { consumed } = found.record
      if (typeof consumed === 'number') {
        // The library had just found it, so this reuse is tolerated.
        if (model === 'RefreshToken') return
        throw new errors.InvalidGrant('it was used already')
      }
      const left = Number(found.record['exp']) - now
      try {
        await this.#bucket.put(
          key,
          { ...found.record, consumed: now },
          { revision: found.revision, ttlMs: Math.max(1, left) * 1_000 },
        )
        return
      } catch (error) {
        if (BusError.from(error).code !== 'conflict') throw error
      }
    }
  }
}

/** The key of a revoked grant in the list of revocations. */
export function grantRevocation(grantId: string): string {
  return `grant-${digestOf(grantId)}`
}

/** The record as the library sees it. A refresh token within the time for retries counts as unused. */
function toPayload(model: string, record: ProviderRecord): AdapterPayload {
  const { consumed, ...rest } = record
  const isHidden = model === 'RefreshToken' && typeof consumed === 'number' && isTolerated(consumed)
  return isHidden ? rest : record
}

function isTolerated(consumed: number): boolean {
  return Date.now() / 1_000 - consumed < REUSE_TOLERANCE_SECONDS
}

/** Record keys have a hash of the id: ids are secret, and may have characters that keys must not have. */
function recordKey(model: string, id: string): string {
  return `${model}.${digestOf(id)}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

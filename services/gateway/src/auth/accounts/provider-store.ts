import { createHash, createHmac } from 'node:crypto'
import type { Bucket, Bus, Counter } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { errors } from 'oidc-provider'
import { z } from 'zod'
import type { Revocations } from '../session/revocations.ts'

const DAY_MS = 86_400_000
/**
 * Time in which a second use of a refresh token counts as a retry: a client may refresh twice at once, or lose the
 * answer.
 */
const REUSE_TOLERANCE_SECONDS = 10
/** The lifetime of a registration without a consent: anybody may register a client. */
const UNUSED_CLIENT_MS = DAY_MS
/** The lifetime of a registration with a consent: longer than grants last, so that clients in use stay registered. */
const CLIENT_MS = 365 * DAY_MS
/**
 * The limit for unused registrations, and for authorizations that wait for a user, of one address in a day. One more
 * evicts the oldest of the same address. Users of an office share an address, so a faulty client must not block others.
 */
const MAX_UNPROVEN = 1_000

/** The kind of records that find sessions by their public id. */
const SESSION_UID = 'SessionUid'

/** A record of the library, which alone knows its fields. */
const ProviderRecord = z.looseObject({})
const providerBucket = defineBucket('OAUTH', {
  record: ProviderRecord,
  what: 'grants of the authorization server',
})
type ProviderRecord = z.infer<typeof ProviderRecord>

/** The buckets of records that anybody can have stored, apart from the records of users. */
const unprovenBuckets = {
  Client: defineBucket('OAUTHCLIENTS', {
    record: ProviderRecord,
    what: 'registrations of clients',
  }),
  Interaction: defineBucket('OAUTHSTARTS', { record: ProviderRecord, what: 'authorizations' }),
}

export interface ProviderStoreDeps {
  readonly bus: Pick<Bus, 'bucket' | 'clock' | 'secret'>
  readonly counter: Promise<Counter>
  readonly revocations: Revocations
  /** The address whose request the library handles; `undefined` outside of one. */
  readonly currentAddress: () => string | undefined
}

/** The state of the authorization server: clients, grants, codes, refresh tokens and interactions. */
export class ProviderStore {
  readonly #bucket: Bucket<ProviderRecord>
  readonly #unproven: ReadonlyMap<string, Bucket<ProviderRecord>>
  readonly #deps: ProviderStoreDeps
  readonly #tokenLifeMs: number
  readonly #secret: Uint8Array

  private constructor(
    bucket: Bucket<ProviderRecord>,
    unproven: ReadonlyMap<string, Bucket<ProviderRecord>>,
    deps: ProviderStoreDeps,
    tokenLifeMs: number,
    secret: Uint8Array,
  ) {
    this.#bucket = bucket
    this.#unproven = unproven
    this.#deps = deps
    this.#tokenLifeMs = tokenLifeMs
    this.#secret = secret
  }

  /** `tokenLifeMs`: the lifetime of access tokens, which are not stored. */
  static async open(deps: ProviderStoreDeps, tokenLifeMs: number): Promise<ProviderStore> {
    const unproven = Object.entries(unprovenBuckets).map(
      async ([model, definition]) => [model, await deps.bus.bucket(definition)] as const,
    )
    const bucket = await deps.bus.bucket(providerBucket)
    const secret = await deps.bus.secret('refresh-tokens')
    const others = new Map(await Promise.all(unproven))
    return new ProviderStore(bucket, others, deps, tokenLifeMs, secret)
  }

  /**
   * The refresh token that replaces another one. A retry gets the same, so that a token has one successor: of two
   * clients that hold it, the later one uses a replaced token, which ends the grant.
   */
  successorOf(refreshToken: string): string {
    return createHmac('sha256', this.#secret).update(refreshToken).digest('base64url')
  }

  /** The storage of one kind of record, as the library requires it. */
  adapter(model: string): Adapter {
    const unproven = this.#unproven.get(model)
    const bucket = unproven ?? this.#bucket
    const keyOf = (id: string): string => recordKey(model, id)
    return {
      find: async (id) => {
        const own = await this.#bucket.get(keyOf(id))
        const found = own ?? (await unproven?.get(keyOf(id)))
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
        if (model === 'RefreshToken') {
          await create(bucket, keyOf(id), record, options)
          return
        }
        await bucket.put(keyOf(id), record, options)
        if (unproven !== undefined) await this.#evict(unproven, model, id)
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
    const unused = this.#unproven.get('Client')
    const found = (await this.#bucket.get(key)) ?? (await unused?.get(key))
    // Clients with a metadata document are not stored.
    if (found === undefined) return
    await this.#bucket.put(key, found.record, { ttlMs: CLIENT_MS })
    await unused?.remove(key)
  }

  /** Counts a record that anybody can have stored, and evicts the oldest one of the address beyond its limit. */
  async #evict(bucket: Bucket<ProviderRecord>, model: string, id: string): Promise<void> {
    const address = this.#deps.currentAddress()
    if (address === undefined) return
    const counter = await this.#deps.counter
    const window = Math.floor(this.#deps.bus.clock.now() / DAY_MS)
    const sum = await counter.add(`unproven:${model}:${address}`, 1, { window, windowMs: DAY_MS })
    const slot = recordKey('Slot', `${address} ${sum % MAX_UNPROVEN}`)
    const evicted = (await bucket.get(slot))?.record['key']
    const key = recordKey(model, id)
    await bucket.put(slot, { key }, { ttlMs: DAY_MS })
    if (typeof evicted === 'string' && evicted !== key) await bucket.remove(evicted)
  }

  /** Ends a grant, so that all gateways refuse its tokens. */
  withdraw(grantId: string): Promise<void> {
    return this.#revokeGrant(grantId)
  }

  async hasGrant(grantId: string): Promise<boolean> {
    return (await this.#bucket.get(recordKey('Grant', grantId))) !== undefined
  }

  async #revokeGrant(id: string): Promise<void> {
    await this.#deps.revocations.add(grantRevocation(id), this.#tokenLifeMs)
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

/** Stores a record, unless there is one: a retry must not make a replaced refresh token good again. */
async function create(
  bucket: Bucket<ProviderRecord>,
  key: string,
  record: ProviderRecord,
  options: { readonly ttlMs?: number },
): Promise<void> {
  try {
    await bucket.put(key, record, { ...options, revision: 0 })
  } catch (error) {
    if (BusError.from(error).code !== 'conflict') throw error
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

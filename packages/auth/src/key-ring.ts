import type { JsonWebKey } from 'node:crypto'
import { generateKeyPair, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'
import type { PublicKeys } from './oidc.ts'

const RING = 'ring'
const MODULUS_BITS = 2048
/** The lifetime of access and id tokens. */
export const TOKEN_SECONDS = 3_600
/** The tolerated difference of clocks. */
const CLOCK_MS = 60_000
/** The time after which every gateway knows a new key. */
const SPREAD_MS = 2_000
/** The number of previous keys with which the signature of a cookie is accepted. */
const COOKIE_KEYS = 3

const SigningKey = z.looseObject({
  kid: z.string(),
  kty: z.string(),
  /** The time from which tokens of this key are refused, in epoch milliseconds; absent for the key that signs. */
  retiresAt: z.number().optional(),
})
type SigningKey = z.infer<typeof SigningKey>

const KeyRingRecord = z.object({
  /** Private RSA keys as JWK. The first one signs; all of them verify. */
  signing: z.array(SigningKey).min(1),
  /** Keys of cookies. The first one signs; all of them verify. */
  cookies: z.array(z.string()).min(1),
})
type KeyRingRecord = z.infer<typeof KeyRingRecord>

const keysBucket = defineBucket('AUTHKEYS', { record: KeyRingRecord, what: 'signing keys' })

/** The keys of the authorization server, which all gateways share. The first gateway makes them. */
export class KeyRing {
  readonly #view: BucketView<KeyRingRecord>
  readonly #first: KeyRingRecord
  #public:
    | { readonly of: KeyRingRecord; readonly until: number; readonly keys: PublicKeys }
    | undefined

  private constructor(view: BucketView<KeyRingRecord>, first: KeyRingRecord) {
    this.#view = view
    this.#first = first
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<KeyRing> {
    const bucket = await bus.bucket(keysBucket)
    const first = (await bucket.get(RING))?.record ?? (await create(bucket))
    return new KeyRing(await bucket.watch(), first)
  }

  /** The current keys. The same object until the keys change. */
  get current(): KeyRingRecord {
    return this.#view.records.get(RING) ?? this.#first
  }

  /** The keys that verify tokens. The same object until the keys change or one retires. */
  get publicKeys(): PublicKeys {
    const { current } = this
    const now = Date.now()
    if (this.#public?.of !== current || this.#public.until <= now) {
      const good = current.signing.filter(({ retiresAt = Infinity }) => retiresAt > now)
      const until = Math.min(...good.map(({ retiresAt = Infinity }) => retiresAt))
      this.#public = { of: current, until, keys: { keys: good.map(publicPart) } }
    }
    return this.#public.keys
  }
}

/**
 * Replaces the keys that sign tokens and cookies, while gateways run. Every gateway gets the new key before any gateway
 * signs with it. Old keys verify until their last token has expired; with `isAtOnce` they stop at once. Resolves with
 * the id of the new key. Throws `not-found` when no gateway has made keys, `conflict` when another process has rotated
 * them.
 */
export async function rotateKeys(
  bus: Pick<Bus, 'bucket'>,
  { isAtOnce }: { readonly isAtOnce: boolean },
): Promise<string> {
  const bucket = await bus.bucket(keysBucket)
  const found = await bucket.get(RING)
  if (found === undefined) {
    throw new BusError('not-found', 'there are no keys yet; start the host with AUTH=local')
  }
  const { signing, cookies } = found.record
  const key = await newSigningKey()
  const revision = await bucket.put(
    RING,
    { signing: [...signing, key], cookies },
    { revision: found.revision },
  )
  await delay(SPREAD_MS)
  const now = bucket.now()
  const retiresAt = now + TOKEN_SECONDS * 1_000 + CLOCK_MS
  const old = signing
    .filter((each) => !isAtOnce && (each.retiresAt ?? Infinity) > now)
    .map((each) => ({ retiresAt, ...each }))
  const made = [newCookieKey(), ...(isAtOnce ? [] : cookies)].slice(0, COOKIE_KEYS)
  await bucket.put(RING, { signing: [key, ...old], cookies: made }, { revision })
  return key.kid
}

async function create(bucket: Bucket<KeyRingRecord>): Promise<KeyRingRecord> {
  const made = { signing: [await newSigningKey()], cookies: [newCookieKey()] }
  try {
    await bucket.put(RING, made, { revision: 0 })
    return made
  } catch (error) {
    if (BusError.from(error).code !== 'conflict') throw error
    // Another gateway has made the keys.
    const first = await bucket.get(RING)
    if (first === undefined) throw error
    return first.record
  }
}

async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
  const jwk: JsonWebKey = privateKey.export({ format: 'jwk' })
  return { ...jwk, kty: 'RSA', kid: randomUUID(), alg: 'RS256', use: 'sig' }
}

function newCookieKey(): string {
  return randomBytes(32).toString('base64url')
}

function publicPart({ kty, kid, n, e }: SigningKey) {
  return { kty, kid, n: String(n), e: String(e), alg: 'RS256', use: 'sig' }
}

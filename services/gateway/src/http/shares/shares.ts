import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { Makers, makersIn } from '@mcp-host/auth'
import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { BusError, defineBucket, PrincipalId, SessionId } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Authenticator } from '../../auth/authenticator.ts'
import { RecentRecords } from '../../limits/recent-records.ts'

const ID_BYTES = 9
const SECRET_BYTES = 32
const TOKEN = /^([\w-]{12})([\w-]{43})$/
/** Limit for the links of one session. Each gateway has the records of all links in memory. */
const MAX_LINKS = 20
const DAY_MS = 86_400_000

/** A link by which others read a session. Only the hash of its token is stored. */
const ShareRecord = z.object({
  session: SessionId,
  /** The owner of the session at the creation of the link. */
  owner: PrincipalId,
  createdBy: PrincipalId,
  makers: Makers.optional(),
  /** SHA-256 of the secret, in hexadecimal digits. */
  digest: z.string().length(64),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
})
type ShareRecord = z.infer<typeof ShareRecord>

const sharesBucket = defineBucket('SHARES', { record: ShareRecord, what: 'share links' })

/** A share link without its secret. */
export interface Share extends Omit<ShareRecord, 'digest'> {
  readonly id: string
}

interface OpenShares {
  readonly bucket: Bucket<ShareRecord>
  readonly view: BucketView<ShareRecord>
}

/** A new link of a session. The token is shown once. */
export function newShare(
  about: Pick<ShareRecord, 'session' | 'owner' | 'createdBy' | 'makers'>,
  days: number,
  createdAt: number,
): { readonly share: Share; readonly token: string; readonly digest: string } {
  const id = randomBytes(ID_BYTES).toString('base64url')
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const share = { id, ...about, createdAt, expiresAt: createdAt + days * DAY_MS }
  return { share, token: id + secret, digest: digestOf(secret).toString('hex') }
}

/** Links by which anybody reads a session until they expire or are revoked, at every gateway. */
export class Shares {
  readonly #bus: Pick<Bus, 'bucket'>
  readonly #auth: Pick<Authenticator, 'areInOrder'>
  readonly #recent = new RecentRecords<ShareRecord>()
  #opened: Promise<OpenShares> | undefined

  constructor(bus: Pick<Bus, 'bucket'>, auth: Pick<Authenticator, 'areInOrder'>) {
    this.#bus = bus
    this.#auth = auth
  }

  /** Stores a new link after `record`. Throws `exhausted` when the session can have no more links. */
  async add(
    { id, ...share }: Share,
    digest: string,
    record: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { bucket, view } = await this.#open()
    const records = this.#recent.with(view.records)
    // Nothing is waited for between this count and the addition, so that links made at once do not all pass the limit.
    if (validOf(share.session, records, bucket.now()).length >= MAX_LINKS) {
      const message = `the session has ${MAX_LINKS} share links; revoke one first`
      throw new BusError('exhausted', message)
    }
    const ttlMs = share.expiresAt - share.createdAt
    const stored = { ...share, digest }
    await this.#recent.add(id, stored, async () => {
      await record()
      await bucket.put(id, stored, { revision: 0, ttlMs })
    })
  }

  /** The valid links of a session, oldest first. */
  async list(session: SessionId): Promise<Share[]> {
    const { bucket, view } = await this.#open()
    return validOf(session, view.records, bucket.now()).toSorted(
      (one, other) => one.createdAt - other.createdAt,
    )
  }

  /** Throws `not-found` when the session has no such link. */
  async check(session: SessionId, id: string): Promise<void> {
    const { bucket } = await this.#open()
    if ((await bucket.get(id))?.record.session === session) return
    throw new BusError('not-found', `share: the session has no link "${id}"`, { field: 'share' })
  }

  async revoke(id: string): Promise<void> {
    await (await this.#open()).bucket.remove(id)
    this.#recent.remove(id)
  }

  /** The link of a token. Throws `not-found` when the link does not exist or is no longer valid. */
  async find(token: string): Promise<Share> {
    const invalid = new BusError('not-found', 'the link is not valid, or not any more')
    const [, id, secret] = TOKEN.exec(token) ?? []
    if (id === undefined || secret === undefined) throw invalid
    const { bucket } = await this.#open()
    const record = (await bucket.get(id))?.record
    if (record === undefined || this.#isOver(record, bucket.now())) throw invalid
    if (!timingSafeEqual(digestOf(secret), Buffer.from(record.digest, 'hex'))) throw invalid
    return { id, ...withoutDigest(record) }
  }

  /** Aborts `controller` when a link is revoked, expires or ends with its account, until disposed. */
  async abortAtEnd(share: Share, controller: AbortController): Promise<Disposable> {
    const { id } = share
    const { bucket, view } = await this.#open()
    const stack = new DisposableStack()
    const timer = setInterval(
      () => this.#isOver(share, bucket.now()) && controller.abort(),
      1_000,
    ).unref()
    stack.defer(() => clearInterval(timer))
    // The view may not have a new record yet. It keeps each record that it once had.
    let wasThere = view.records.has(id)
    const check = (): void => {
      if (wasThere && !view.records.has(id)) controller.abort()
      wasThere ||= view.records.has(id)
    }
    stack.use(view.onChange(check))
    // The link may have been revoked just before.
    if ((await bucket.get(id)) === undefined) controller.abort()
    return stack
  }

  /** Whether a link has expired, or an account or key for which it stands is not in order. */
  #isOver(share: Omit<ShareRecord, 'digest'>, now: number): boolean {
    const { owner, createdBy, expiresAt } = share
    // Only admins share the sessions of others, so such a link ends with the role of its maker, too.
    const role = createdBy === owner ? undefined : 'admin'
    const isInOrder =
      this.#auth.areInOrder({ principals: [owner], keys: [] }) &&
      this.#auth.areInOrder(makersIn(share), role)
    return expiresAt <= now || !isInOrder
  }

  #open(): Promise<OpenShares> {
    this.#opened ??= this.#bus
      .bucket(sharesBucket)
      .then(async (bucket) => ({ bucket, view: await bucket.watch() }))
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }
}

function validOf(
  session: SessionId,
  records: ReadonlyMap<string, ShareRecord>,
  now: number,
): Share[] {
  return Array.from(records, ([id, record]) => ({ id, ...withoutDigest(record) })).filter(
    (share) => share.session === session && share.expiresAt > now,
  )
}

function withoutDigest(record: ShareRecord): Omit<ShareRecord, 'digest'> {
  const { digest: _, ...about } = record
  return about
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

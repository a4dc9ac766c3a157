import { createHash, randomBytes } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket, PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'

const HOUR_MS = 3_600_000
const INVITATION_MS = 7 * 24 * HOUR_MS
const FIRST_ADMIN_MS = 24 * HOUR_MS
const FIRST_ADMIN_KEY = 'first-admin'
const TOKEN = /^[\w-]{43}$/

/** A link by which its owner sets the password of an account. Only the hash of its token is stored. */
const InvitationRecord = z.object({
  /** The account; absent for the first admin, who chooses a name. */
  account: z.string().optional(),
  /** SHA-256 of the token, in hexadecimal digits. */
  digest: z.string().length(64),
  createdAt: z.number(),
  createdBy: PrincipalId,
  expiresAt: z.number(),
})
type InvitationRecord = z.infer<typeof InvitationRecord>

const invitationsBucket = defineBucket('INVITATIONS', {
  record: InvitationRecord,
  what: 'invitations',
})

/** An invitation that can be used. */
export interface Invitation {
  readonly account: string | undefined
  /** Uses the invitation up. Throws `not-found` when another request has used it. */
  redeem(): Promise<void>
}

/** A new invitation. */
export interface InvitationToken {
  /** The token, which is shown once. */
  readonly token: string
  readonly expiresAt: number
}

/** The address of the page of an invitation. */
export function invitationLink(publicUrl: string, token: string): string {
  return `${publicUrl}/invite/${token}`
}

/** Single-use links for accounts without a password, or with a forgotten one. */
export class Invitations {
  readonly #bucket: Bucket<InvitationRecord>

  private constructor(bucket: Bucket<InvitationRecord>) {
    this.#bucket = bucket
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<Invitations> {
    return new Invitations(await bus.bucket(invitationsBucket))
  }

  /** Creates an invitation for an account. */
  async create(account: string, createdBy: string): Promise<InvitationToken> {
    const { token, record } = newInvitation({ account, createdBy }, INVITATION_MS)
    await this.#bucket.put(keyOf(record.digest), record, { ttlMs: INVITATION_MS })
    return { token, expiresAt: record.expiresAt }
  }

  /**
   * Creates the invitation of the first admin; `undefined` when one exists that is younger than `renewAfterMs`. When
   * several processes call this at the same time, one gets the invitation.
   */
  async offerFirstAdmin(renewAfterMs = Infinity): Promise<InvitationToken | undefined> {
    const found = await this.#bucket.get(FIRST_ADMIN_KEY)
    const isThere = found !== undefined && found.record.expiresAt > Date.now()
    if (isThere && Date.now() - found.record.createdAt < renewAfterMs) return undefined
    const { token, record } = newInvitation({ createdBy: 'system' }, FIRST_ADMIN_MS)
    try {
      const revision = found?.revision ?? 0
      await this.#bucket.put(FIRST_ADMIN_KEY, record, { revision, ttlMs: FIRST_ADMIN_MS })
    } catch (error) {
      if (BusError.from(error).code === 'conflict') return undefined
      throw error
    }
    return { token, expiresAt: record.expiresAt }
  }

  /** The invitation of a token; `undefined` when the token is unknown, used or expired. */
  async find(token: string): Promise<Invitation | undefined> {
    if (!TOKEN.test(token)) return undefined
    const digest = digestOf(token)
    for (const key of [keyOf(digest), FIRST_ADMIN_KEY]) {
      const found = await this.#bucket.get(key)
      if (found === undefined || found.record.digest !== digest) continue
      if (found.record.expiresAt <= Date.now()) continue
      return { account: found.record.account, redeem: () => this.#redeem(key, found.revision) }
    }
    return undefined
  }

  async #redeem(key: string, revision: number): Promise<void> {
    try {
      await this.#bucket.remove(key, revision)
    } catch (error) {
      if (BusError.from(error).code !== 'conflict') throw error
      throw new BusError('not-found', 'the link was used already', { cause: error })
    }
  }
}

function newInvitation(
  about: Pick<InvitationRecord, 'account' | 'createdBy'>,
  lifeMs: number,
): { readonly token: string; readonly record: InvitationRecord } {
  const token = randomBytes(32).toString('base64url')
  const createdAt = Date.now()
  const record = { ...about, digest: digestOf(token), createdAt, expiresAt: createdAt + lifeMs }
  return { token, record }
}

/** The broker compares the hash by its look-up, whose time reveals nothing about the token. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function keyOf(digest: string): string {
  return `invitation-${digest}`
}

import { createHash, randomBytes } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket, PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Accounts } from './accounts.ts'
import { Makers, makersIn } from './makers.ts'

const HOUR_MS = 3_600_000
const INVITATION_MS = 7 * 24 * HOUR_MS
const FIRST_ADMIN_MS = 24 * HOUR_MS
const TOKEN = /^[\w-]{43}$/

/** A link by which its owner sets the password of an account. Only the hash of its token is stored. */
const InvitationRecord = z.object({
  /** The account; absent for the first admin, who chooses a name. */
  account: z.string().optional(),
  /** SHA-256 of the token, in hexadecimal digits. */
  digest: z.string().length(64),
  createdAt: z.number(),
  createdBy: PrincipalId,
  makers: Makers.optional(),
  expiresAt: z.number(),
})
type InvitationRecord = z.infer<typeof InvitationRecord>

const invitationsBucket = defineBucket('INVITATIONS', {
  record: InvitationRecord,
  what: 'invitations',
})

interface StoredInvitation {
  readonly record: InvitationRecord
  readonly revision: number
}

/** Decides whether the makers of an invitation may still invite. */
export type MakerRule = (makers: Makers) => boolean

/** An invitation that can be used. */
export interface Invitation {
  readonly account: string | undefined
  /** Uses the invitation up. Throws `not-found` when it was used or ended meanwhile. */
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
  readonly #accounts: Accounts

  private constructor(bucket: Bucket<InvitationRecord>, accounts: Accounts) {
    this.#bucket = bucket
    this.#accounts = accounts
  }

  static async open(bus: Pick<Bus, 'bucket'>, accounts: Accounts): Promise<Invitations> {
    return new Invitations(await bus.bucket(invitationsBucket), accounts)
  }

  /** Creates an invitation for an account, which ends the earlier one. Throws `not-found` for an unknown account. */
  async create(account: string, createdBy: string, makers?: Makers): Promise<InvitationToken> {
    const { token, expiresAt } = await this.#store({ account, createdBy, makers }, INVITATION_MS)
    await this.#accounts.change(account, { invitation: digestOf(token) })
    return { token, expiresAt }
  }

  /** Ends the invitation of an account. Throws `not-found` for an unknown account. */
  async revoke(account: string): Promise<void> {
    await this.#accounts.change(account, { invitation: '' })
  }

  /** Creates an invitation for the first admin. Each one is good until it expires or an admin can log in. */
  async offerFirstAdmin(): Promise<InvitationToken> {
    return this.#store({ createdBy: 'system' }, FIRST_ADMIN_MS)
  }

  /**
   * The invitation of a token; `undefined` when the token is unknown, used, ended or expired, or when `areInOrder`
   * refuses its makers.
   */
  async find(token: string, areInOrder: MakerRule): Promise<Invitation | undefined> {
    if (!TOKEN.test(token)) return undefined
    const found = await this.#bucket.get(keyOf(digestOf(token)))
    if (found === undefined || found.record.expiresAt <= this.#bucket.now()) return undefined
    if (!(await this.#isValid(found.record, areInOrder))) return undefined
    return { account: found.record.account, redeem: () => this.#redeem(found, areInOrder) }
  }

  async #store(
    about: Pick<InvitationRecord, 'account' | 'createdBy' | 'makers'>,
    ttlMs: number,
  ): Promise<InvitationToken> {
    const token = randomBytes(32).toString('base64url')
    const digest = digestOf(token)
    const createdAt = this.#bucket.now()
    const expiresAt = createdAt + ttlMs
    await this.#bucket.put(keyOf(digest), { ...about, digest, createdAt, expiresAt }, { ttlMs })
    return { token, expiresAt }
  }

  /** Whether no newer invitation, password or admin has ended an invitation, and its makers may still make it. */
  async #isValid(invitation: InvitationRecord, areInOrder: MakerRule): Promise<boolean> {
    const { account, digest } = invitation
    if (!areInOrder(makersIn(invitation))) return false
    // The first admin may have been created in another way.
    if (account === undefined) return !this.#accounts.hasAdmin
    const record = await this.#accounts.read(account)
    return record?.isDisabled === false && (record.invitation ?? digest) === digest
  }

  async #redeem({ record, revision }: StoredInvitation, areInOrder: MakerRule): Promise<void> {
    try {
      await this.#bucket.remove(keyOf(record.digest), revision)
    } catch (error) {
      if (BusError.from(error).code !== 'conflict') throw error
      throw new BusError('not-found', 'the link was used already', { cause: error })
    }
    // It may have been ended while the form was filled in.
    if (!(await this.#isValid(record, areInOrder)))
      throw new BusError('not-found', 'the link was ended')
  }
}

/** The broker compares the hash by its look-up, whose time reveals nothing about the token. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function keyOf(digest: string): string {
  return `invitation-${digest}`
}

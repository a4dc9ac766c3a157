import { createHash } from 'node:crypto'
import type { Bucket, Bus } from '@mcp-host/bus'
import { BusError, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'

/**
 * The limit for one account: one more consent withdraws the oldest. Some clients log in anew each time, and add a
 * consent each time.
 */
const MAX_CONSENTS = 200
/** Attempts at a change while other gateways change the same record. */
const TRIES = 5

const Consent = z.object({
  /** The id of the grant at the authorization server. */
  grantId: z.string(),
  clientName: z.string(),
  scopes: z.array(z.string()),
  /** Epoch milliseconds. */
  allowedAt: z.number(),
})
/** The consent of an account that a client acts for it. */
export type Consent = z.infer<typeof Consent>

const consentsBucket = defineBucket('CONSENTS', {
  record: z.object({ consents: z.array(Consent) }),
  what: 'permissions of clients',
})
type AccountConsents = z.infer<typeof consentsBucket.record>

/** The consents of accounts, so that users can see and withdraw them. */
export class Consents {
  readonly #bucket: Bucket<AccountConsents>

  private constructor(bucket: Bucket<AccountConsents>) {
    this.#bucket = bucket
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<Consents> {
    return new Consents(await bus.bucket(consentsBucket))
  }

  /** The consents of an account, newest first. Grants of some may have ended. */
  async list(account: string): Promise<readonly Consent[]> {
    return (await this.#bucket.get(keyOf(account)))?.record.consents ?? []
  }

  /** Adds a consent, or replaces the one of the same grant. Resolves with the consents that exceed the limit. */
  async add(account: string, consent: Consent): Promise<readonly Consent[]> {
    let all: readonly Consent[] = []
    await this.#change(account, (consents) => {
      all = [consent, ...consents.filter(({ grantId }) => grantId !== consent.grantId)]
      return all.slice(0, MAX_CONSENTS)
    })
    return all.slice(MAX_CONSENTS)
  }

  async remove(account: string, grantId: string): Promise<void> {
    await this.#change(account, (all) => all.filter((each) => each.grantId !== grantId))
  }

  async #change(
    account: string,
    change: (consents: readonly Consent[]) => readonly Consent[],
  ): Promise<void> {
    const key = keyOf(account)
    for (let tried = 1; ; tried++) {
      const found = await this.#bucket.get(key)
      const consents = [...change(found?.record.consents ?? [])]
      try {
        await this.#bucket.put(key, { consents }, { revision: found?.revision ?? 0 })
        return
      } catch (error) {
        if (BusError.from(error).code !== 'conflict' || tried === TRIES) throw error
      }
    }
  }
}

/** The key of an account's record. The name is encoded, since it may have characters that keys must not have. */
function keyOf(account: string): string {
  return createHash('sha256').update(account).digest('hex')
}

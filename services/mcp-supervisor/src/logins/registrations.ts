import type { Bucket, Bus } from '@mcp-host/bus'
import { defineBucket } from '@mcp-host/contracts'
import type { RegistrationStore } from '@mcp-host/upstream'
import { z } from 'zod'
import { digest } from './account.ts'
import type { Sealer } from './sealer.ts'

const RegistrationRecord = z.object({
  issuer: z.string(),
  redirectUrl: z.string(),
  /** The client id, and the secret where there is one, sealed. */
  sealed: z.string(),
})
type RegistrationRecord = z.infer<typeof RegistrationRecord>

const registrationsBucket = defineBucket('UPSTREAM_CLIENTS', {
  record: RegistrationRecord,
  what: 'registrations of this host at authorization servers',
})

type Registration = Parameters<RegistrationStore['save']>[1]

/** The registrations of this host at authorization servers, which all users share. */
export class Registrations {
  readonly #bucket: Bucket<RegistrationRecord>
  readonly #sealer: Sealer

  private constructor(bucket: Bucket<RegistrationRecord>, sealer: Sealer) {
    this.#bucket = bucket
    this.#sealer = sealer
  }

  static async open(bus: Pick<Bus, 'bucket'>, sealer: Sealer): Promise<Registrations> {
    return new Registrations(await bus.bucket(registrationsBucket), sealer)
  }

  /** Those with a redirect address. */
  of(redirectUrl: string): RegistrationStore {
    const placeOf = (issuer: string): string => JSON.stringify([issuer, redirectUrl])
    const keyOf = (issuer: string): string => digest(placeOf(issuer))
    return {
      load: async (issuer) => {
        const found = await this.#bucket.get(keyOf(issuer))
        if (found === undefined) return undefined
        // The seal proves that this class wrote it.
        return this.#sealer.open(found.record.sealed, placeOf(issuer)) as Registration | undefined
      },
      save: async (issuer, client) => {
        if (client === undefined) return this.#bucket.remove(keyOf(issuer))
        const sealed = this.#sealer.seal(client, placeOf(issuer))
        await this.#bucket.put(keyOf(issuer), { issuer, redirectUrl, sealed })
      },
    }
  }
}

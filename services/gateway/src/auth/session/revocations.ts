import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import { defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'

const revocationsBucket = defineBucket('REVOCATIONS', {
  record: z.object({ revokedAt: z.number() }),
  what: 'revocations',
})
type Revocation = z.infer<typeof revocationsBucket.record>

/**
 * Revoked logins and grants that gateways may still have in a cache. An entry expires with those caches, so the list
 * stays short.
 */
export class Revocations {
  readonly #bucket: Bucket<Revocation>
  readonly #view: BucketView<Revocation>

  private constructor(bucket: Bucket<Revocation>, view: BucketView<Revocation>) {
    this.#bucket = bucket
    this.#view = view
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<Revocations> {
    const bucket = await bus.bucket(revocationsBucket)
    return new Revocations(bucket, await bucket.watch())
  }

  /** Whether a key was revoked, from the watched copy of the bucket. */
  has(key: string): boolean {
    return this.#view.records.has(key)
  }

  /** `keepMs`: the longest time for which a cache may still accept the key. */
  async add(key: string, keepMs: number): Promise<void> {
    await this.#bucket.put(key, { revokedAt: Date.now() }, { ttlMs: keepMs })
  }
}

import { createHash } from 'node:crypto'
import type { Bus, Lease } from '@mcp-host/bus'

/** The slots of a dead process are free after this time, in which its turns are taken over, also on a busy machine. */
const TTL_MS = 10_000

/** Limits the turns that run for one principal at a time, over all orchestrators: each turn holds the lease of a slot. */
export class TurnSlots {
  readonly #leases: Pick<Bus['leases'], 'acquire' | 'holder' | 'take'>
  readonly #limit: number
  /** Slots that this process holds or tries to get. */
  readonly #own = new Set<string>()

  /** `limit`: turns of one principal; 0 is without limit. */
  constructor(
    { leases }: { readonly leases: Pick<Bus['leases'], 'acquire' | 'holder' | 'take'> },
    limit: number,
  ) {
    this.#leases = leases
    this.#limit = limit
  }

  /**
   * Takes a slot, which is free again once disposed; `undefined` when all are in use. A turn that is taken over gets
   * the slot of its dead orchestrator before other turns. Throws `unavailable`.
   */
  async acquire(
    principal: string,
    deadOrchestrator?: string,
  ): Promise<AsyncDisposable | undefined> {
    if (this.#limit === 0) return { [Symbol.asyncDispose]: async () => undefined }
    // The owner is hashed: principals may have any characters, unlike keys.
    const owner = createHash('sha256').update(principal).digest('hex').slice(0, 32)
    for (let slot = 0; slot < this.#limit; slot++) {
      const key = `turn.${owner}.${slot}`
      if (this.#own.has(key)) continue
      this.#own.add(key)
      const lease = await this.#lease(key, deadOrchestrator).catch((error: unknown) => {
        this.#own.delete(key)
        throw error
      })
      if (lease === undefined) {
        this.#own.delete(key)
        continue
      }
      return {
        [Symbol.asyncDispose]: async () => {
          await lease.release()
          this.#own.delete(key)
        },
      }
    }
    return undefined
  }

  async #lease(key: string, deadOrchestrator: string | undefined): Promise<Lease | undefined> {
    if (deadOrchestrator !== undefined) {
      const held = await this.#leases.holder(key)
      if (held?.holder === deadOrchestrator) {
        return this.#leases.take(key, held.revision, { ttlMs: TTL_MS })
      }
    }
    return this.#leases.acquire(key, { ttlMs: TTL_MS })
  }
}

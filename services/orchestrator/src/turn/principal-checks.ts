import type { Bus } from '@mcp-host/bus'
import type { Envelope } from '@mcp-host/contracts'
import { childEnvelope, LOCAL, principalCheck } from '@mcp-host/contracts'

/** The time for which an answer counts, and for which an accepted message needs none. */
const GOOD_MS = 1_000
const TIMEOUT_MS = 500
/** Answers beyond this number are forgotten, the oldest first. */
const MAX_KEPT = 10_000

interface Answer {
  readonly at: number
  readonly isInOrder: Promise<boolean>
}

/** Asks gateways whether principals still have the roles with which their messages were accepted. */
export class PrincipalChecks {
  readonly #bus: Pick<Bus, 'call' | 'clock'>
  readonly #answers = new Map<string, Answer>()

  constructor(bus: Pick<Bus, 'call' | 'clock'>) {
    this.#bus = bus
  }

  /** `acceptedAt`: epoch milliseconds, by the broker's clock. While no gateway answers, every principal is in order. */
  async isInOrder(envelope: Envelope, acceptedAt: number): Promise<boolean> {
    const now = this.#bus.clock.now()
    const { principal, roles } = envelope
    if (principal === LOCAL.id || roles === undefined || now - acceptedAt < GOOD_MS) return true
    const key = JSON.stringify([principal, roles])
    const last = this.#answers.get(key)
    if (last !== undefined && now - last.at < GOOD_MS) return last.isInOrder
    const isInOrder = this.#ask(envelope, { principal, roles })
    this.#answers.delete(key)
    this.#answers.set(key, { at: now, isInOrder })
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_KEPT) break
      this.#answers.delete(oldest)
    }
    return isInOrder
  }

  async #ask(
    envelope: Envelope,
    request: { readonly principal: string; readonly roles: string[] },
  ): Promise<boolean> {
    const options = { envelope: childEnvelope(envelope), timeoutMs: TIMEOUT_MS }
    try {
      return (await this.#bus.call(principalCheck, {}, request, options)).isInOrder
    } catch {
      // Answers go on while all gateways restart.
      return true
    }
  }
}

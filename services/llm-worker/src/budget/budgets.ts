import type { Leases, LeaseView } from '@mcp-host/bus'
import type { Limits } from '../settings/llm-file.ts'
import { Slots } from './slots.ts'

/** After that the requests of a worker that is gone do not count any more. */
const RUN_TTL_MS = 10_000
const MINUTE_MS = 60_000

/** What providers may be asked, by all workers together. */
export class Budgets {
  readonly #leases: Leases
  readonly #minuteMs: number
  readonly #slots = new Map<string, Slots>()
  #view: Promise<LeaseView> | undefined

  constructor(leases: Leases, { minuteMs = MINUTE_MS } = {}) {
    this.#leases = leases
    this.#minuteMs = minuteMs
  }

  /**
   * Waits until a provider may be asked once more, until the signal. The request counts as under way until
   * what is answered is disposed.
   */
  async enter(
    provider: string,
    { concurrent, requestsPerMinute }: Limits,
    signal: AbortSignal,
  ): Promise<Disposable> {
    using stack = new DisposableStack()
    if (concurrent !== undefined) {
      const options = { name: `llm.${provider}.run`, ttlMs: RUN_TTL_MS }
      const slots = await this.#of(options, concurrent)
      stack.adopt(await slots.take(signal), (slot) => slots.free(slot))
    }
    if (requestsPerMinute !== undefined) {
      // Taken for a minute, so there are never more in one.
      const options = { name: `llm.${provider}.minute`, ttlMs: this.#minuteMs, isFixed: true }
      await (await this.#of(options, requestsPerMinute)).take(signal)
    }
    return stack.move()
  }

  async #of(options: ConstructorParameters<typeof Slots>[2], count: number): Promise<Slots> {
    this.#view ??= this.#leases.watch('llm.>')
    try {
      const view = await this.#view
      const slots = this.#slots.get(options.name) ?? new Slots(this.#leases, view, options)
      slots.count = count
      this.#slots.set(options.name, slots)
      return slots
    } catch (error) {
      this.#view = undefined
      throw error
    }
  }
}

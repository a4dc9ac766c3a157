import type { Clock, Counter } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'

const WINDOW_MS = 15 * 60_000
/** Limits of failed logins in one window: per address and account, per address, and per account. */
const LIMITS = { pair: 5, address: 50, account: 50 } as const

/** Limits failed logins over all gateways. */
export class Attempts {
  readonly #counter: Promise<Counter>

  readonly #clock: Pick<Clock, 'now'>

  constructor(counter: Promise<Counter>, clock: Pick<Clock, 'now'>) {
    this.#counter = counter
    this.#clock = clock
  }

  /**
   * Counts a login as failed, and resolves with a function that takes this back: logins that come at once must not all
   * pass a limit that the first of them reaches. Every outcome but a wrong credential takes it back. Throws `exhausted`
   * after too many failed logins. Accounts that do not exist have the same limits. A login at the identity provider has
   * no name here, so only its address counts.
   */
  async begin(address: string, name?: string): Promise<() => Promise<void>> {
    const now = this.#clock.now()
    const window = Math.floor(now / WINDOW_MS)
    const sums = await this.#add(window, 1, address, name)
    const giveBack = async (): Promise<void> => void (await this.#add(window, -1, address, name))
    if (sums.every(({ sum, limit }) => sum <= limit)) return giveBack
    // A refused login tells nothing about its password. Counted, it would use up the limit of the account.
    await giveBack()
    const minutes = Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 60_000)
    const what = name === undefined ? 'failed logins' : 'wrong passwords'
    const message = `Too many ${what}. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
    throw new BusError('exhausted', message)
  }

  async #add(window: number, amount: number, address: string, name: string | undefined) {
    const counter = await this.#counter
    const about = { window, windowMs: WINDOW_MS }
    const byAccount = [
      [`login:pair:${address} ${name}`, LIMITS.pair],
      [`login:account:${name}`, LIMITS.account],
    ] as const
    const keys = [
      [`login:address:${address}`, LIMITS.address] as const,
      ...(name === undefined ? [] : byAccount),
    ]
    return Promise.all(
      keys.map(async ([key, limit]) => ({ sum: await counter.add(key, amount, about), limit })),
    )
  }
}

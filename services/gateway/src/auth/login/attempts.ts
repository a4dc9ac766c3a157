import type { Counter } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'

const WINDOW_MS = 15 * 60_000
/** Limits of failed logins in one window: per address and account, per address, and per account. */
const LIMITS = { pair: 5, address: 50, account: 50 } as const

/** Limits failed logins over all gateways. */
export class Attempts {
  readonly #counter: Promise<Counter>

  constructor(counter: Promise<Counter>) {
    this.#counter = counter
  }

  /**
   * Throws `exhausted` after too many failed logins. Accounts that do not exist have the same limits. A login at the
   * identity provider has no name here, so only its address counts.
   */
  async check(address: string, name?: string): Promise<void> {
    const sums = await this.#add(address, name, 0)
    if (sums.every(({ sum, limit }) => sum < limit)) return
    const minutes = Math.ceil((WINDOW_MS - (Date.now() % WINDOW_MS)) / 60_000)
    const what = name === undefined ? 'failed logins' : 'wrong passwords'
    const message = `Too many ${what}. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`
    throw new BusError('exhausted', message)
  }

  async failed(address: string, name?: string): Promise<void> {
    await this.#add(address, name, 1)
  }

  async #add(address: string, name: string | undefined, amount: number) {
    const counter = await this.#counter
    const about = { window: Math.floor(Date.now() / WINDOW_MS), windowMs: WINDOW_MS }
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

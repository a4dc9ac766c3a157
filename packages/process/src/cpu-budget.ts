/** Limit for the idle time whose share of CPU is saved up. */
const MAX_SAVED_MS = 1000
/** The longest pause. Further debt is forgiven. */
const MAX_PAUSE_MS = 10_000

/**
 * Decides when a process must pause, so that its CPU time averages a share of one core. Elapsed time earns the share,
 * CPU time spends it, and debt pauses the process.
 */
export class CpuBudget {
  readonly #share: number
  #balanceMs: number

  constructor(cpuPercent: number) {
    this.#share = cpuPercent / 100
    this.#balanceMs = MAX_SAVED_MS * this.#share
  }

  /** Whether it may run, after it used `usedMs` of CPU time in the last `elapsedMs`. */
  spend(usedMs: number, elapsedMs: number): boolean {
    const balanceMs = this.#balanceMs + elapsedMs * this.#share - usedMs
    const lowestMs = -MAX_PAUSE_MS * this.#share
    this.#balanceMs = Math.min(Math.max(balanceMs, lowestMs), MAX_SAVED_MS * this.#share)
    return this.#balanceMs >= 0
  }
}

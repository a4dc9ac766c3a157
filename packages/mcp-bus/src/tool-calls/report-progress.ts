import type { ToolProgress } from '@mcp-host/contracts'

/** The period in which progress of one call is coalesced. */
export const PERIOD_MS = 250
const MAX_MESSAGE_LENGTH = 500

type Report = Pick<ToolProgress, 'progress' | 'total' | 'message'>

/**
 * Coalesces the progress of a tool: the first report is sent at once, then the latest one after each period. A report
 * that is pending at the end is dropped, since the result follows.
 */
export class ProgressReporter implements Disposable {
  readonly #emit: (report: Report) => void
  #pending: Report | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(emit: (report: Report) => void) {
    this.#emit = emit
  }

  /** Takes a report in the form of the server. A report without a number is ignored. */
  push(given: { readonly [Key in keyof Report]?: unknown }): void {
    const { progress, total, message } = given
    if (!Number.isFinite(progress)) return
    this.#pending = {
      progress: progress as number,
      ...(Number.isFinite(total) ? { total: total as number } : {}),
      ...(typeof message === 'string' && message !== ''
        ? { message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() }
        : {}),
    }
    if (this.#timer === undefined) this.#flush()
  }

  [Symbol.dispose](): void {
    this.#pending = undefined
    clearTimeout(this.#timer)
  }

  #flush(): void {
    this.#timer = undefined
    if (this.#pending === undefined) return
    this.#timer = setTimeout(() => this.#flush(), PERIOD_MS)
    const report = this.#pending
    this.#pending = undefined
    this.#emit(report)
  }
}

import type { Logger } from '@mcp-host/process'
import { TokenBucket } from '../policies/token-bucket.ts'

/** The rate limit for log lines that a server causes. */
const LINES_PER_SECOND = 50
/** A start or a stack trace may have many lines at once. */
const BURST = 1_000
/** The period of reports about dropped lines. */
const REPORT_MS = 1_000

export interface LineQuotaDeps {
  /** Called at once with a number of dropped lines. */
  readonly onLines: (lines: number) => void
  /** Called with the number of dropped lines of one period. */
  readonly onLeftOut: (lines: number) => void
}

/** Limits the log lines of one server, and counts the dropped ones. */
export class LineQuota {
  readonly #deps: LineQuotaDeps
  readonly #bucket = new TokenBucket({ perSecond: LINES_PER_SECOND, burst: BURST })
  #lines = 0
  #isReportPlanned = false

  constructor(deps: LineQuotaDeps) {
    this.#deps = deps
  }

  /** Whether one more line may be logged. */
  take(): boolean {
    if (this.#bucket.take()) return true
    this.leaveOut(1)
    return false
  }

  /** Counts lines that are not logged. */
  leaveOut(lines: number): void {
    this.#deps.onLines(lines)
    this.#lines += lines
    if (!this.#isReportPlanned) setTimeout(() => this.#report(), REPORT_MS).unref()
    this.#isReportPlanned = true
  }

  #report(): void {
    const lines = this.#lines
    this.#isReportPlanned = false
    this.#lines = 0
    this.#deps.onLeftOut(lines)
  }
}

/** A logger that drops lines beyond the quota. */
export function withQuota(logger: Logger, quota: Pick<LineQuota, 'take'>): Logger {
  return {
    debug: (fields, message) => void (quota.take() && logger.debug(fields, message)),
    info: (fields, message) => void (quota.take() && logger.info(fields, message)),
    warn: (fields, message) => void (quota.take() && logger.warn(fields, message)),
    error: (fields, message) => void (quota.take() && logger.error(fields, message)),
  }
}

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Less is not worth the pause, some 50 ms. */
const MIN_GROWTH_BYTES = 8 * 1024 * 1024

export interface CollectOptions {
  /** Default: 5,000. */
  readonly checkMs?: number
  /** A collection also drops compiled code, which slows down the first seconds of work after it. Default: 12. */
  readonly quietChecksAfter?: number
  /** The share of time in which a quiet process works. Default: 0.05. */
  readonly quiet?: number
  /**
   * V8 collects a larger heap beside the work of the process; here the process would stand still for too long. Default:
   * 128 MB.
   */
  readonly maxHeapBytes?: number
}

/**
 * Collects garbage at the first quiet check, and later after `quietChecksAfter` of them in a row, until disposed. V8 collects when the heap grows, so that a process that does nothing keeps the garbage of its start for
 * good: 20 MB and more.
 */
export function collectWhenQuiet({
  checkMs = 5_000,
  quietChecksAfter = 12,
  quiet = 0.05,
  maxHeapBytes = 128 * 1024 * 1024,
}: CollectOptions = {}): Disposable {
  let keptBytes = 0
  let quietChecks = 0
  let needed = 1
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const bytes = usedBytes()
    quietChecks = utilization < quiet ? quietChecks + 1 : 0
    const isWorthIt = bytes > keptBytes + MIN_GROWTH_BYTES && bytes < maxHeapBytes
    if (quietChecks < needed || !isWorthIt) return
    collect()
    quietChecks = 0
    needed = quietChecksAfter
    keptBytes = usedBytes()
    before = performance.eventLoopUtilization()
  }, checkMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function usedBytes(): number {
  return getHeapStatistics().used_heap_size
}

/** The function of V8 is there only in contexts that are made after the flag was set. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}

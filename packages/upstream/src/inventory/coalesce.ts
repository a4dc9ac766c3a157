export interface CoalesceOptions {
  /** The time from the end of a run to the start of the next. */
  readonly gapMs: number
  /** Limit for the gap, which doubles while each run is requested before the gap ends; default `gapMs`. */
  readonly maxGapMs?: number
}

/**
 * Coalesces calls of `run`. Runs do not overlap and have a gap between them. All calls during a run or a gap lead to
 * one further run. The promise of a call is that of a run that began after the call.
 */
export function coalesce(
  run: () => Promise<void>,
  { gapMs, maxGapMs = gapMs }: CoalesceOptions,
): () => Promise<void> {
  let nextGapMs = gapMs
  let blocked: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  const start = (): Promise<void> => {
    waiting = undefined
    const result = run()
    // The callers of a failed run get its error; the next run is independent.
    const free = result.catch(() => undefined).then(() => pause(nextGapMs))
    blocked = free
    void free.then(() => {
      nextGapMs = waiting === undefined ? gapMs : Math.min(nextGapMs * 2, maxGapMs)
      if (blocked === free) blocked = undefined
    })
    return result
  }
  return () => (blocked === undefined ? start() : (waiting ??= blocked.then(start)))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}

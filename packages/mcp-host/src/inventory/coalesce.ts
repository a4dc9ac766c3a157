export interface CoalesceOptions {
  /** From the end of a run to the next, in milliseconds; the first never waits. */
  readonly gapMs: number
  /** The gap doubles up to this for as long as each run is asked for before the gap is over; default: it stays. */
  readonly maxGapMs?: number
}

/**
 * Makes many requests to run something into few runs: never two at once, never two in quick
 * succession, and however many come meanwhile, one more follows. The promise is that of a run that
 * began after the request.
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

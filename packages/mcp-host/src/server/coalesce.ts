/**
 * Makes many requests to run something into few runs: never two at once, and however many come
 * during a run, one more follows it. The promise is that of a run that began after the request.
 */
export function coalesce(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  const start = (): Promise<void> => {
    waiting = undefined
    running = run().finally(() => {
      running = undefined
    })
    return running
  }
  // A failed run has told those who asked for it; it is no reason not to try again.
  return () => (running === undefined ? start() : (waiting ??= running.then(start, start)))
}

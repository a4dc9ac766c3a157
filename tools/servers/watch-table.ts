import type { Bus, CatalogView } from '@mcp-host/bus'

/** Several changes at once are shown once. */
const REDRAW_MS = 100
const LOOK_MS = 1_000

export interface WatchOptions {
  readonly bus: Pick<Bus, 'sinceOutageMs'>
  readonly catalog: CatalogView
  /** As it is now. */
  readonly show: () => string
  readonly print: (text: string) => void
  /** Takes what is no part of the list. */
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/** Prints the list again after each change, until the signal. While the broker is away the old one stands. */
export async function watchTable({
  bus,
  catalog,
  show,
  print,
  tell,
  signal,
}: WatchOptions): Promise<void> {
  let shown: string | undefined
  let isAway = false
  let change = Promise.withResolvers<void>()
  using _listener = catalog.onChange(() => change.resolve())
  while (!signal.aborted) {
    const wasAway = isAway
    isAway = bus.sinceOutageMs() === 0
    if (isAway && !wasAway) {
      tell(`nats-server does not answer; as of ${new Date().toTimeString().slice(0, 8)}`)
    }
    const text = show()
    // Again when it is back: the line about it stands below the old list.
    if (text !== shown || (wasAway && !isAway)) print(text)
    shown = text
    // Nothing is told of an outage, so it is looked for.
    await Promise.race([change.promise, delay(LOOK_MS)])
    change = Promise.withResolvers<void>()
    await delay(REDRAW_MS)
  }
}

/** Unlike the one of `node:timers/promises` it goes by the timers that tests can turn on. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

import type { Bus, CatalogView } from '@mcp-host/bus'

/** The time in which changes are coalesced. */
const REDRAW_MS = 100
const LOOK_MS = 1_000

export interface WatchOptions {
  readonly bus: Pick<Bus, 'sinceOutageMs'>
  readonly catalog: CatalogView
  /** The current table. */
  readonly show: () => string
  readonly print: (text: string) => void
  /** Prints a line that is not part of the table. */
  readonly warn: (line: string) => void
  readonly signal: AbortSignal
}

/** Prints the table again after each change, until the signal. While the broker is away, the last table stays. */
export async function watchTable({
  bus,
  catalog,
  show,
  print,
  warn,
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
      warn(`nats-server does not answer; as of ${new Date().toTimeString().slice(0, 8)}`)
    }
    const text = show()
    // Printed again when the broker is back, since the line about the outage is below the last table.
    if (text !== shown || (wasAway && !isAway)) print(text)
    shown = text
    // The bus does not report an outage, so it is polled.
    await Promise.race([change.promise, delay(LOOK_MS)])
    change = Promise.withResolvers<void>()
    await delay(REDRAW_MS)
  }
}

/** Unlike the one of `node:timers/promises`, it uses the timers that tests replace. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

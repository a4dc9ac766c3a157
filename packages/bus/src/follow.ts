import type { LogEntry } from '@mcp-host/contracts'
import type { FollowItem } from './bus.ts'
import type { HubListener, SessionHub } from './session-hub.ts'

/** A follower that lags by more than this is brought up to date from the log instead. */
const MAX_QUEUED = 2_000

/**
 * Follows one session: what is stored after `after`, then what comes. A slow reader costs no memory:
 * what does not fit its queue is dropped and read again later.
 */
export async function* followSession(
  hub: SessionHub,
  read: (after: number) => Promise<LogEntry[]>,
  { after, deltas, signal }: { after: number; deltas: boolean; signal: AbortSignal },
): AsyncGenerator<FollowItem> {
  let queue: FollowItem[] = []
  let overflowed = false
  let wake: (() => void) | undefined
  const push = (item: FollowItem): void => {
    if (queue.length < MAX_QUEUED) queue.push(item)
    else overflowed = true
    wake?.()
  }
  const listener: HubListener = {
    entry: (entry) => push({ type: 'entry', entry }),
    // Others may follow the same hub with deltas.
    delta: (delta) => {
      if (deltas) push({ type: 'delta', delta })
    },
    checked: () => push({ type: 'caught-up' }),
  }
  const onAbort = (): void => wake?.()
  signal.addEventListener('abort', onAbort)
  hub.add(listener, { deltas })
  try {
    await hub.opened()
    let seq = after
    let behind = true
    while (!signal.aborted) {
      if (behind) {
        behind = false
        for (const entry of await read(seq)) {
          if (signal.aborted) return
          seq = entry.seq
          yield { type: 'entry', entry }
        }
        yield { type: 'caught-up' }
      }
      if (overflowed) {
        overflowed = false
        queue = []
        behind = true
        continue
      }
      if (queue.length === 0) {
        // The abort may have come while the reader was busy with the last item.
        if (signal.aborted) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
        continue
      }
      const items = queue
      queue = []
      for (const item of items) {
        if (signal.aborted) return
        if (item.type === 'entry') {
          if (item.entry.seq <= seq) continue
          seq = item.entry.seq
        }
        yield item
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    hub.remove(listener)
  }
}

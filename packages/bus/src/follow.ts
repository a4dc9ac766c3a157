import { BusError } from '@mcp-host/contracts'
import type { FollowItem } from './bus.ts'
import type { LogEntry } from '@mcp-host/contracts'
import type { HubListener, SessionHub } from './session-hub.ts'

/** Limit for the queue of a follower, in items. A follower that lags further reads the log again. */
const MAX_QUEUED = 2_000
/** The same limit for text, in UTF-16 units. */
const MAX_QUEUED_LENGTH = 1024 * 1024
/** The number of entries of one read. */
const PAGE = 100

/**
 * Follows one session: stored entries after `after`, then new ones. The queue of a slow reader is bounded; dropped
 * items are read from the log later. Throws `not-found` once the log was purged.
 */
export async function* followSession(
  hub: SessionHub,
  read: (after: number, options: { through: number; limit: number }) => Promise<LogEntry[]>,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<FollowItem> {
  let queue: FollowItem[] = []
  let overflowed = false
  let isPurged = false
  let isLost = false
  let wake: (() => void) | undefined
  let queuedLength = 0
  const takeAll = (): FollowItem[] => {
    const items = queue
    queue = []
    queuedLength = 0
    return items
  }
  const push = (item: FollowItem): void => {
    if (queue.length < MAX_QUEUED && queuedLength < MAX_QUEUED_LENGTH) {
      queue.push(item)
      queuedLength += lengthOf(item)
    } else overflowed = true
    wake?.()
  }
  const listener: HubListener = {
    entry: (entry) => push({ type: 'entry', entry }),
    delta: (delta) => push({ type: 'delta', delta }),
    progress: (progress) => push({ type: 'progress', progress }),
    checked: () => push({ type: 'caught-up' }),
    purged: () => {
      isPurged = true
      wake?.()
    },
    lost: () => {
      isLost = true
      wake?.()
    },
  }
  const onAbort = (): void => wake?.()
  signal.addEventListener('abort', onAbort)
  hub.add(listener)
  try {
    await hub.opened()
    let seq = after
    let behind = true
    while (!signal.aborted) {
      if (isLost) {
        const message = 'the host has lost the end of this session; load it again'
        throw new BusError('unavailable', message)
      }
      if (behind) {
        // The hub delivers only later entries.
        const page = await read(seq, { through: hub.seq, limit: PAGE })
        for (const entry of page) {
          if (signal.aborted) return
          seq = entry.seq
          yield { type: 'entry', entry }
        }
        behind = page.length >= PAGE
        if (behind) continue
        yield { type: 'caught-up' }
      }
      if (overflowed) {
        overflowed = false
        takeAll()
        behind = true
        continue
      }
      if (queue.length === 0) {
        // The reader may have aborted while it handled the last item.
        if (signal.aborted) return
        if (isPurged) throw new BusError('not-found', 'this session was deleted')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
        continue
      }
      for (const item of takeAll()) {
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

/** The approximate length of an item's text. */
function lengthOf(item: FollowItem): number {
  if (item.type === 'delta') return item.delta.text.length
  if (item.type === 'progress') return item.progress.message?.length ?? 0
  return item.type === 'entry' && item.entry.kind !== 'unreadable' ? textIn(item.entry.fact) : 0
}

function textIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + textIn(each), 0)
}

import type { AuditEntry, EntryFilter } from '@mcp-host/audit'
import { entryFilter, parseEntry } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'

/** Limits for one request: the number of entries that it reads, and its time. The log has no index. */
const MAX_SCANNED = 20_000
const MAX_SCAN_MS = 2_000

/** The position after an entry: the sequence of its message, and its index in the message. */
export interface AuditPosition {
  readonly seq: number
  readonly index: number
}

export interface AuditSearch extends EntryFilter {
  /** Searched in the entry as it is shown, so that a search reveals nothing else. */
  readonly text?: string | undefined
  readonly after: AuditPosition | undefined
  readonly order: 'oldest' | 'newest'
  readonly limit: number
}

export interface AuditPage {
  readonly entries: readonly WrittenEntry[]
  /** The position of the next search; absent at the end of the log. */
  readonly next?: AuditPosition
}

/** An entry and its writer. */
type WrittenEntry = AuditEntry & { readonly writer: string }

/**
 * Searches the audit log from its beginning, from its end for the newest entries first, or from a position. `show`: reduces an entry to what the caller may see.
 */
export async function searchAudit(
  { audit }: Pick<Bus, 'audit'>,
  { after, limit, text, order, ...filter }: AuditSearch,
  show: (entry: AuditEntry) => AuditEntry,
): Promise<AuditPage> {
  const isWanted = entryFilter(filter)
  const found: WrittenEntry[] = []
  const endAt = performance.now() + MAX_SCAN_MS
  let scanned = 0
  const isBack = order === 'newest'
  const { since } = filter
  // The message at the position is read again.
  const messages = isBack
    ? audit.readBack({ since, from: after?.seq })
    : audit.read(after === undefined ? { since } : { from: after.seq })
  for await (const { seq, writer, entries } of messages) {
    const indexed = Array.from(entries.entries())
    for (const [index, json] of isBack ? indexed.toReversed() : indexed) {
      const isSeen = seq === after?.seq && (isBack ? index >= after.index : index <= after.index)
      if (isSeen) continue
      scanned++
      const entry = parseEntry(json)
      if (entry !== undefined && isWanted(entry)) {
        const shown = { writer, ...show(entry) }
        if (text === undefined || JSON.stringify(shown).includes(text)) found.push(shown)
      }
      const isEnough = found.length >= limit || scanned >= MAX_SCANNED
      if (isEnough || performance.now() > endAt) return { entries: found, next: { seq, index } }
    }
  }
  return { entries: found }
}

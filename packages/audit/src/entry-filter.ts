import { matchesPattern } from '@mcp-host/policy'
import type { AuditEntry } from './audit-entry.ts'

export interface EntryFilter {
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Patterns, with `*` for anything. */
  readonly principal?: string | undefined
  readonly server?: string | undefined
  readonly tool?: string | undefined
  readonly action?: string | undefined
  readonly outcome?: string | undefined
  /** Id of the one principal whose entries are shown, no pattern. */
  readonly owner?: string | undefined
}

/** Whether an entry is one of those that are looked for. */
export function entryFilter({
  since,
  until,
  owner,
  ...patterns
}: EntryFilter): (entry: AuditEntry) => boolean {
  const fields = (['principal', 'server', 'tool', 'action', 'outcome'] as const).flatMap(
    (field) => {
      const pattern = patterns[field]
      return pattern === undefined ? [] : [{ field, pattern }]
    },
  )
  return (entry) => {
    if (owner !== undefined && entry.principal !== owner) return false
    const time = Date.parse(entry.time)
    if (since !== undefined && time < since.getTime()) return false
    if (until !== undefined && time > until.getTime()) return false
    return fields.every(({ field, pattern }) => matchesPattern(pattern, entry[field] ?? ''))
  }
}

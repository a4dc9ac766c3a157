import { AuditEntry } from './audit-entry.ts'

/** A stored entry; `undefined` when it is none. */
export function parseEntry(text: string): AuditEntry | undefined {
  try {
    return AuditEntry.safeParse(JSON.parse(text)).data
  } catch {
    // Not JSON, or nested too deeply: no writer writes that.
    return undefined
  }
}

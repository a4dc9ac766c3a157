import { countOf } from '@mcp-host/client'
import type { AuditEntry, AuditQuery } from '@mcp-host/client'
import { admin } from './admin.ts'
import { jsonLines } from './audit-words.ts'
import { download } from './download.ts'

/** The largest number of entries in a file that the page makes. */
const MAX_ENTRIES = 50_000

/** Saves the entries that a query finds as lines of JSON, and says how many. Throws `HostError`. */
export async function exportAudit(query: AuditQuery): Promise<string> {
  const entries: AuditEntry[] = []
  let after: string | undefined
  do {
    const place = after === undefined ? {} : { after }
    const page = await admin.audit({ ...query, order: 'newest', limit: 500, ...place })
    entries.push(...page.entries)
    after = page.next
  } while (after !== undefined && entries.length < MAX_ENTRIES)
  download('audit.jsonl', jsonLines(entries))
  const count = countOf(entries.length, 'entry', 'entries')
  const verb = entries.length === 1 ? 'is' : 'are'
  if (after === undefined) return `${count} ${verb} exported, newest first.`
  return `The newest ${count} ${verb} exported. npm run audit -- export has all.`
}

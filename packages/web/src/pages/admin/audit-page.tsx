import type { AuditEntry, AuditQuery } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { countOf } from '@mcp-host/client'
import { Fault } from '../../parts/fault.tsx'
import { isNotHere, NotHere } from '../../parts/not-here.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { admin } from '../../state/admin.ts'
import { Latest } from '../../state/latest.ts'
import { login } from '../../state/login.ts'
import { useStore } from '../../state/store.ts'
import { AuditFilters } from './audit-filters.tsx'
import { AuditHead, AuditRow } from './audit-row.tsx'
import { AuditTools } from './audit-tools.tsx'

/** Entries of a page. */
const PAGE = 50

interface Found {
  readonly query: AuditQuery
  readonly entries: readonly AuditEntry[]
  /** Leads to earlier entries. */
  readonly next: string | undefined
}

/** The audit log: of all principals for auditors and admins, else the user's own entries. */
export function AuditPage(): ReactNode {
  const known = useStore(login)
  const roles: readonly string[] = 'principal' in known ? known.principal.roles : []
  const isAuditor = roles.includes('auditor')
  const seesAll = isAuditor || roles.includes('admin')
  const [found, setFound] = useState<Found>()
  const [fault, setFault] = useState<Error>()
  const [isSearching, setIsSearching] = useState(false)
  const [latest] = useState(() => new Latest())
  /** Reads a page, and puts it after `before`. Only the latest search counts. */
  const search = async (query: AuditQuery, before?: Found): Promise<void> => {
    const isLatest = latest.begin()
    setIsSearching(true)
    setFault(undefined)
    try {
      const after = before?.next === undefined ? {} : { after: before.next }
      const { entries, next } = await admin.audit({
        order: 'newest',
        limit: PAGE,
        ...query,
        ...after,
      })
      if (isLatest()) setFound({ query, entries: [...(before?.entries ?? []), ...entries], next })
    } catch (error) {
      if (isLatest()) setFault(error instanceof Error ? error : new Error(String(error)))
    } finally {
      if (isLatest()) setIsSearching(false)
    }
  }
  useEffect(() => void search({ since: new Date(Date.now() - DAY_MS).toISOString() }), [])
  return isNotHere(fault) ? (
    <PageFrame page="audit" title="Audit">
      <NotHere title="This host has no audit log.">
        Set <code>AUDIT=async</code> and start the host again: entries of tool calls stand here from
        then on.
      </NotHere>
    </PageFrame>
  ) : (
    <PageFrame page="audit" title="Audit">
      <p className="note">
        {seesAll ? 'Entries of everybody' : 'Your own entries'}, the newest first
        {isAuditor ? '.' : '. Arguments are shown to users with the role auditor.'}
      </p>
      <AuditFilters onSearch={(query) => void search(query)} />
      <Fault fault={fault} />
      {found !== undefined && (
        <p role="status" className="note">
          {countText(found)}
        </p>
      )}
      {found !== undefined && <AuditTools query={found.query} canVerify={seesAll} />}
      {found !== undefined && found.entries.length > 0 && <AuditHead />}
      <ul className="rows" aria-label="Entries">
        {found?.entries.map((entry) => (
          <AuditRow key={`${entry.writer} ${entry.seq}`} entry={entry} />
        ))}
      </ul>
      {found?.next !== undefined && (
        <button
          type="button"
          disabled={isSearching}
          onClick={() => void search(found.query, found)}
        >
          Search on
        </button>
      )}
    </PageFrame>
  )
}

const DAY_MS = 86_400_000

function countText({ entries, next }: Found): string {
  const count = countOf(entries.length, 'entry', 'entries')
  if (next !== undefined) return `${count} so far; the log goes on.`
  if (entries.length === 0) return 'No entry was found. Take another time or fewer filters.'
  return `${count}.`
}

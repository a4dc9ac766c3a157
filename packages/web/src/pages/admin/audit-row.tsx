import type { AuditEntry } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { pretty } from '../../state/pretty.ts'
import { timeOf } from '../../state/time-text.ts'

/** An entry of the audit log, which opens to all of its fields. */
export function AuditRow({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const { time, action, principal, server, tool, outcome } = entry
  const name = [server, tool].filter((each) => each !== undefined).join('.')
  return (
    <li className="audit">
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <span className="muted">{timeOf(time)}</span> <strong>{action}</strong> {principal} {name}{' '}
          {outcome !== undefined && <span className="muted">{outcome}</span>}
        </summary>
        {isOpen && (
          <pre tabIndex={0} aria-label={`All of ${action}`}>
            {pretty(entry)}
          </pre>
        )}
      </details>
    </li>
  )
}

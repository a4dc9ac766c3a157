import type { AuditEntry } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ToolId } from '../../parts/tool-id.tsx'
import { pretty } from '../../state/pretty.ts'
import { timeOf } from '../../state/time-text.ts'

/** An entry of the audit log, which opens to all of its fields. */
export function AuditRow({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const { time, action, principal, server, tool, outcome } = entry
  return (
    <li className="audit">
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <span className="num">{timeOf(time)}</span>
          <span>{action}</span>
          <span className="cut">{principal}</span>
          <ToolId server={server} tool={tool} />
          <span className="muted">{outcome}</span>
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

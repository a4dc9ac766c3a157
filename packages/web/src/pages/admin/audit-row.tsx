import type { AuditEntry } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import type { MarkName } from '../../parts/icon.tsx'
import { Mark } from '../../parts/icon.tsx'
import { ToolId } from '../../parts/tool-id.tsx'
import { tookText } from '../../state/audit-words.ts'
import { pretty } from '../../state/pretty.ts'
import { timeOf } from '../../state/time-text.ts'

const MARKS: ReadonlyMap<string, MarkName> = new Map([
  ['ok', 'ok'],
  ['allowed', 'ok'],
  ['error', 'failed'],
  ['denied', 'refused'],
  ['refused', 'refused'],
  ['cancelled', 'off'],
  ['unknown', 'unknown'],
])

const COLUMNS = ['Time', 'Who', 'By', 'What', 'Outcome', 'Took'] as const

/** The names of the columns, above the entries. */
export function AuditHead(): ReactNode {
  return (
    <div className="audit-head" aria-hidden="true">
      {COLUMNS.map((name) => (
        <span key={name} className={name === 'Took' ? 'right' : undefined}>
          {name}
        </span>
      ))}
    </div>
  )
}

/** An entry of the audit log, which opens to all of its fields. */
export function AuditRow({ entry }: { readonly entry: AuditEntry }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const { time, action, principal, entrance, server, tool, outcome } = entry
  const mark = MARKS.get(outcome ?? '')
  return (
    <li className="audit">
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <span className="num">{timeOf(time)}</span>
          <span className="cut">{principal}</span>
          <span>{entrance}</span>
          <span>
            {action} <ToolId server={server} tool={tool} />
          </span>
          <span className="muted">
            {mark !== undefined && <Mark name={mark} />} {outcome}
          </span>
          <span className="num right">{tookText(entry)}</span>
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

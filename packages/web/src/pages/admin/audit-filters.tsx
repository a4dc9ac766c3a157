import type { AuditQuery } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'

const FIELDS = [
  { name: 'principal', label: 'Principal', hint: 'user:*' },
  { name: 'action', label: 'Action', hint: 'tool-*' },
  { name: 'server', label: 'Server', hint: 'files' },
  { name: 'tool', label: 'Tool', hint: 'write_*' },
  { name: 'outcome', label: 'Outcome', hint: 'denied' },
  { name: 'text', label: 'Text', hint: 'anywhere in the entry' },
] as const
const TIMES = [
  { name: 'since', label: 'From' },
  { name: 'until', label: 'Until' },
] as const
type Name = (typeof FIELDS | typeof TIMES)[number]['name']

/** The filters of the audit log; empty ones match everything. */
export function AuditFilters({
  onSearch,
}: {
  readonly onSearch: (query: AuditQuery) => void
}): ReactNode {
  const [values, setValues] = useState<ReadonlyMap<Name, string>>(new Map())
  const input = (name: Name) => ({
    value: values.get(name) ?? '',
    onChange: ({ target }: React.ChangeEvent<HTMLInputElement>) =>
      setValues(new Map(values).set(name, target.value)),
  })
  return (
    <form
      className="fields filters"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(queryOf(values))
      }}
    >
      {FIELDS.map(({ name, label, hint }) => (
        <label key={name} className="field">
          {label}
          <input placeholder={hint} {...input(name)} />
        </label>
      ))}
      {TIMES.map(({ name, label }) => (
        <label key={name} className="field">
          {label}
          <input type="datetime-local" step={1} {...input(name)} />
        </label>
      ))}
      <button type="submit" className="primary">
        Search
      </button>
    </form>
  )
}

function queryOf(values: ReadonlyMap<Name, string>): AuditQuery {
  const given = Array.from(values).filter(([, value]) => value !== '')
  const isTime = (name: Name): boolean => name === 'since' || name === 'until'
  return Object.fromEntries(
    // A time of the form is one of the user's clock.
    given.map(([name, value]) => [name, isTime(name) ? new Date(value).toISOString() : value]),
  )
}

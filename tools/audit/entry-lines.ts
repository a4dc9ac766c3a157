import { countOf } from '@mcp-host/client'
import type { AuditEntry } from '@mcp-host/audit'
import { plainLine } from '../plain.ts'

/** An entry and its writer. */
export type WrittenEntry = AuditEntry & { readonly writer: string }

const COLUMNS = [
  'time',
  'principal',
  'roles',
  'entrance',
  'action',
  'session',
  'server',
  'tool',
  'call',
  'outcome',
  'durationMs',
  'argumentsHash',
  'argumentsLength',
  'traceId',
  'detail',
  'dropped',
  'writer',
  'seq',
  'prev',
] as const satisfies readonly (keyof WrittenEntry)[]

export function jsonLine(entry: WrittenEntry): string {
  return JSON.stringify(entry)
}

export function csvHead(withArguments: boolean): string {
  return [...COLUMNS, ...(withArguments ? ['arguments'] : [])].join(',')
}

/** The cells of `csvHead`. */
export function csvLine(entry: WrittenEntry, withArguments: boolean): string {
  const cells: unknown[] = COLUMNS.map((column) => entry[column])
  if (withArguments) cells.push(entry.arguments)
  return cells.map(csvCell).join(',')
}

function csvCell(value: unknown): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A spreadsheet would interpret the cell as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** An entry as one line for a person. */
export function searchLine(entry: WrittenEntry): string {
  const { time, principal, entrance, action, server, tool, call, outcome, durationMs } = entry
  const parts = [
    time,
    principal,
    entrance,
    action,
    server === undefined ? undefined : `${server}.${tool ?? ''}`,
    outcome,
    durationMs === undefined ? undefined : `${durationMs} ms`,
    call === undefined ? undefined : `call=${call}`,
    entry.arguments === undefined ? undefined : JSON.stringify(entry.arguments),
    entry.detail === undefined ? undefined : JSON.stringify(entry.detail),
    entry.dropped === undefined
      ? undefined
      : `${countOf(entry.dropped, 'entry', 'entries')} lost before`,
  ]
  return plainLine(parts.filter((part) => part !== undefined).join('  '))
}

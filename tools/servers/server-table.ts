import { countOf } from '@mcp-host/client'
import type { CatalogEntry, ServerEntry, ServerStats } from '@mcp-host/contracts'
import {
  describeFileFault,
  explainFailure,
  fileFaults,
  outputBesideReason,
  ownValue,
  viewServers,
} from '@mcp-host/contracts'
import { plain, plainLine } from '../plain.ts'

/** A row of the table: a server at one supervisor. */
export type ServerRow = Omit<ServerEntry, 'kind' | 'server' | 'tools' | 'revision' | 'stored'> &
  ServerStats & { name: string; restarts: number; tools: number }

const NO_STATS: ServerStats = { calls: 0, errors: 0, inFlight: 0 }

/** The rows, sorted by name: one for each server at each supervisor that runs it or has run calls of it. */
export function serverRows(entries: Iterable<CatalogEntry>): ServerRow[] {
  const all = Array.from(entries)
  const present = all.filter((entry) => entry.kind === 'supervisor')
  return viewServers(all).flatMap(({ server, state, tools, instances }): ServerRow[] => {
    const rows = instances.map(({ entry, stats = NO_STATS }) => {
      const {
        kind: _,
        server: __,
        tools: own,
        revision: ___,
        stored: ____,
        restarts = 0,
        ...rest
      } = entry
      return { name: server, ...rest, restarts, tools: own.length, ...stats }
    })
    // A supervisor may run processes of sessions for a server whose tools another supervisor has listed.
    const others = present
      .filter(({ id }) => instances.every(({ entry }) => entry.supervisor !== id))
      .flatMap(({ id, servers }) => {
        const stats = ownValue(servers, server)
        if (stats === undefined || stats.calls + stats.inFlight + (stats.sessions ?? 0) === 0)
          return []
        const row = { name: server, state, supervisor: id, restarts: 0, tools: tools.length }
        const { scope } = instances[0]?.entry ?? {}
        return [{ ...row, scope, ...stats }]
      })
    return [...rows, ...others]
  })
}

const HEAD = [
  'NAME',
  'STATE',
  'TYPE',
  'SUPERVISOR',
  'SANDBOX',
  'PID',
  'RESTARTS',
  'TOOLS',
  'CALLS',
  'ERRORS',
  'P50',
  'P95',
]

/** The table for a person, with the errors below it. */
export function formatTable(entries: Iterable<CatalogEntry>): string {
  const all = Array.from(entries)
  const rows = serverRows(all)
  const faults = fileFaults(all).map(describeFileFault)
  const logins = rows.flatMap(({ name, logins: known }) =>
    known === undefined ? [] : [loginsOf(name, known)],
  )
  const errors = rows.flatMap(({ name, instances = [], ...row }) => [
    ...why(name, row),
    ...instances.flatMap((instance, index) => why(`${name}, instance ${index + 1}`, instance)),
  ])
  const cells = [HEAD, ...rows.map(toCells)]
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => plainLine(cell).padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const body = rows.length === 0 ? ['No MCP server is running.'] : lines
  const below = new Set([...errors, ...logins, ...faults])
  return plain([...body, ...(below.size === 0 ? [] : ['', ...below])].join('\n'))
}

/** The error of a server with its reason, and the last output of its process on separate lines. */
function why(name: string, failure: Pick<ServerEntry, 'error' | 'output'>): string[] {
  const error = explainFailure(failure)
  if (error === undefined) return []
  return [
    [`${name}: ${error}`, ...outputBesideReason(failure).map((line) => `  | ${line}`)].join('\n'),
  ]
}

function loginsOf(name: string, { usable, needed }: NonNullable<ServerStats['logins']>): string {
  if (usable + needed === 0) return `${name}: nobody has logged in there yet`
  const again = needed === 0 ? '' : `, and ${needed} to be made again`
  return `${name}: ${countOf(usable, 'login')} of users${again}`
}

function toCells(row: ServerRow): string[] {
  const caller = row.scope === 'user' ? 'user' : 'session'
  const process = row.sessions === undefined ? ofInstances(row) : countOf(row.sessions, caller)
  return [
    row.name,
    row.phase ?? row.state,
    [row.type, row.era].filter((part) => part !== undefined).join(' '),
    row.supervisor,
    row.sandbox ?? '-',
    String(process ?? '-'),
    String(row.restarts),
    String(row.tools),
    row.inFlight === 0 ? String(row.calls) : `${row.calls} (+${row.inFlight})`,
    String(row.errors),
    milliseconds(row.p50Ms),
    milliseconds(row.p95Ms),
  ]
}

function ofInstances({ instances, pid }: ServerRow): string | number | undefined {
  if (instances === undefined) return pid
  return `${instances.filter(({ state }) => state === 'ready').length} of ${instances.length}`
}

function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return '-'
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
}

import type { ServerName } from '../ids.ts'
import { ownValue } from '../own-value.ts'
import type { CatalogEntry, CatalogTool, ServerEntry, ServerStats } from './catalog-entry.ts'

/** A server with all of its instances. */
export interface ServerView {
  readonly server: ServerName
  /** `ready` when any instance is. */
  readonly state: ServerEntry['state']
  /** Why none is ready. */
  readonly error?: string
  /** The entry of the instance in the best state, the newest of several. */
  readonly entry: ServerEntry
  /** The tools of that instance. */
  readonly tools: readonly CatalogTool[]
  /** The instances by supervisor, in the order of the supervisors' ids. */
  readonly instances: readonly ServerInstance[]
}

export interface ServerInstance {
  readonly entry: ServerEntry
  readonly stats?: ServerStats
}

/** The best state of its instances is the state of the server. */
const STATES_FROM_BEST: readonly ServerEntry['state'][] = [
  'ready',
  'starting',
  'unavailable',
  'stopping',
  'shutdown',
]

/**
 * All servers, sorted by name. Leaves out the entries of absent supervisors, and those of servers that were removed from
 * the configuration of their supervisor and only finish their calls.
 */
export function viewServers(entries: Iterable<CatalogEntry>): ServerView[] {
  const all = Array.from(entries)
  const present = new Map(
    all.filter((entry) => entry.kind === 'supervisor').map((entry) => [entry.id, entry]),
  )
  const instances = all
    .filter((entry) => entry.kind === 'server')
    .filter(({ supervisor, server }) => {
      const { configured = [server] } = present.get(supervisor) ?? { configured: [] }
      return configured.includes(server)
    })
  return Array.from(Map.groupBy(instances, ({ server }) => server))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([server, group]) => {
      const best = group.reduce((one, other) => (isBetter(other, one) ? other : one))
      return {
        server,
        state: best.state,
        entry: best,
        ...(best.error === undefined ? {} : { error: best.error }),
        tools: best.tools,
        instances: group
          .toSorted((one, other) => (one.supervisor < other.supervisor ? -1 : 1))
          .map((entry) => {
            const stats = ownValue(present.get(entry.supervisor)?.servers ?? {}, server)
            return stats === undefined ? { entry } : { entry, stats }
          }),
      }
    })
}

/** The ids of the present supervisors. A killed supervisor is among them for some seconds more. */
export function presentSupervisors(entries: Iterable<CatalogEntry>): string[] {
  return Array.from(entries).flatMap((entry) => (entry.kind === 'supervisor' ? [entry.id] : []))
}

/**
 * Whether any supervisor has a server in its configuration, so that it may come back when it is away. True for every
 * server while no supervisor is present or one is of an earlier version, which does not publish its configuration.
 */
export function isConfigured(entries: Iterable<CatalogEntry>, server: string): boolean {
  const supervisors = Array.from(entries).filter((entry) => entry.kind === 'supervisor')
  return (
    supervisors.length === 0 ||
    supervisors.some(({ configured = [server] }) => configured.includes(server))
  )
}

/** The configured servers without an entry of a present supervisor: they are just starting, or moving. */
export function unreportedServers(entries: Iterable<CatalogEntry>): string[] {
  const all = Array.from(entries)
  const published = new Set<string>(viewServers(all).map(({ server }) => server))
  const configured = all.flatMap((entry) =>
    entry.kind === 'supervisor' ? (entry.configured ?? []) : [],
  )
  return Array.from(new Set(configured)).filter((server) => !published.has(server))
}

function isBetter(one: ServerEntry, other: ServerEntry): boolean {
  const difference = STATES_FROM_BEST.indexOf(one.state) - STATES_FROM_BEST.indexOf(other.state)
  return difference < 0 || (difference === 0 && (one.revision ?? 0) > (other.revision ?? 0))
}

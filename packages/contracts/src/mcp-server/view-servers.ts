import type { ServerName } from '../ids.ts'
import { ownValue } from '../own-value.ts'
import type { CatalogEntry, CatalogTool, ServerEntry, ServerStats } from './catalog-entry.ts'

/** A server as its callers see it, whichever supervisors run it. */
export interface ServerView {
  readonly server: ServerName
  /** `ready` when any instance is. */
  readonly state: ServerEntry['state']
  /** Why none is ready. */
  readonly error?: string
  /** The instance that stands for it: the newest ready one. */
  readonly entry: ServerEntry
  /** Of that one. */
  readonly tools: readonly CatalogTool[]
  /** By supervisor, in the order of their ids. */
  readonly instances: readonly ServerInstance[]
}

export interface ServerInstance {
  readonly entry: ServerEntry
  readonly stats?: ServerStats
}

/** The better state of two instances stands for the server. */
const BETTER: readonly ServerEntry['state'][] = [
  'ready',
  'starting',
  'unavailable',
  'stopping',
  'shutdown',
]

/**
 * Every server once, in a fixed order. What an absent supervisor has written does not count, nor do servers that were
 * removed from the configuration of the supervisor that still ends their calls.
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

/** The ids of the supervisors that are present; one that was killed is among them for some seconds more. */
export function presentSupervisors(entries: Iterable<CatalogEntry>): string[] {
  return Array.from(entries).flatMap((entry) => (entry.kind === 'supervisor' ? [entry.id] : []))
}

/**
 * Whether any supervisor has a server in its configuration, so that one which is away may come back. While no
 * supervisor is present, or one is of an earlier version, nothing counts as removed.
 */
export function isConfigured(entries: Iterable<CatalogEntry>, server: string): boolean {
  const supervisors = Array.from(entries).filter((entry) => entry.kind === 'supervisor')
  return (
    supervisors.length === 0 ||
    supervisors.some(({ configured = [server] }) => configured.includes(server))
  )
}

/** The configured servers that no present supervisor has told anything of: they are just starting, or moving. */
export function untoldServers(entries: Iterable<CatalogEntry>): string[] {
  const all = Array.from(entries)
  const told = new Set<string>(viewServers(all).map(({ server }) => server))
  const configured = all.flatMap((entry) =>
    entry.kind === 'supervisor' ? (entry.configured ?? []) : [],
  )
  return Array.from(new Set(configured)).filter((server) => !told.has(server))
}

function isBetter(one: ServerEntry, other: ServerEntry): boolean {
  const difference = BETTER.indexOf(one.state) - BETTER.indexOf(other.state)
  return difference < 0 || (difference === 0 && (one.revision ?? 0) > (other.revision ?? 0))
}

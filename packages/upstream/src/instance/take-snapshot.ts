import type { ServerConfig } from '../endpoints/index.ts'
import type { HealthScore } from '../policies/health-score.ts'
import type { Connection } from './connection.ts'
import type { ServerHealth, ServerSnapshot } from './server-snapshot.ts'

interface Shown extends Pick<ServerSnapshot, 'name' | 'state' | 'since' | 'restarts'> {
  readonly config: ServerConfig
  readonly isInstalling: boolean
  readonly isRestartPlanned: boolean
  readonly sandbox: ServerSnapshot['sandbox'] | undefined
  readonly error: ServerSnapshot['error'] | undefined
  readonly health: HealthScore
}

/** A snapshot of one server; `live` is its last connection. */
export function takeSnapshot(
  live: Connection | undefined,
  {
    name,
    config,
    state,
    since,
    isInstalling,
    isRestartPlanned,
    sandbox,
    restarts,
    error,
    health,
  }: Shown,
): ServerSnapshot {
  const connection = live?.connection
  const inventory = state === 'ready' ? live?.inventory : undefined
  const isRunning = connection?.closeReason === undefined && state !== 'shutdown'
  return {
    name,
    type: (live?.config ?? config).type,
    state,
    since,
    restarts,
    ...definedOf({
      phase: state === 'starting' && isInstalling ? ('installing' as const) : undefined,
      error,
      isRestartPlanned: state === 'unavailable' && isRestartPlanned ? (true as const) : undefined,
      health: toHealth(state, health),
      serverInfo: connection?.serverInfo,
      protocolVersion: connection?.protocolVersion,
      era: connection?.era,
      capabilities: connection?.capabilities,
      instructions: connection?.instructions,
      sandbox,
      pid: isRunning ? connection?.pid : undefined,
      caching: inventory?.caching,
      announcedAt: inventory?.announcedAt,
    }),
    tools: [...(inventory?.tools.values() ?? [])],
    prompts: [...(inventory?.prompts.values() ?? [])],
    resources: [...(inventory?.resources.values() ?? [])],
    resourceTemplates: [...(inventory?.resourceTemplates.values() ?? [])],
  }
}

function toHealth(
  state: ServerSnapshot['state'],
  { failureRate, checkedAt }: HealthScore,
): ServerHealth | undefined {
  if (checkedAt === undefined) return undefined
  return { score: state === 'ready' ? 1 - failureRate : 0, checkedAt }
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

function definedOf<Fields extends object>(fields: Fields): Defined<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Defined<Fields>
}

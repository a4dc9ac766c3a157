import type { CatalogView } from '@mcp-host/bus'
import type {
  CatalogEntry,
  CatalogTool,
  ModelEntry,
  Principal,
  ProviderEntry,
  ServerEntry,
  ServerStats,
  ServerView,
  ToolUse,
} from '@mcp-host/contracts'
import {
  describeDamage,
  explainFailure,
  isAdmin,
  NOBODY,
  ownValue,
  presentProviders,
  viewServers,
} from '@mcp-host/contracts'
import { welcome } from './standard-messages.ts'

/** The state of the host for clients, in several forms. */
export interface Capabilities {
  /** The welcome to a new client that does not see the hidden servers. */
  welcome(isHidden: IsHidden): string
  /** The default model, and all models. */
  models(): ModelList
  /** Every tool that is not hidden, with the state of its server. */
  tools(isHidden?: (server: string, tool: CatalogTool) => boolean): ToolState[]
  /**
   * The state for `/health`: `degraded` while a server or all models are missing, although the rest works. Servers are
   * named only for admins and principals that may use one of their tools; others get counts.
   */
  summary(
    principal: Principal,
    visibleTools: VisibleTools,
    isHidden?: IsHidden,
  ): Record<string, unknown>
  /** What is wrong with the stored sessions. */
  storageWarnings(): readonly string[]
}

/** The number of a server's tools that a principal may use; `undefined` when the server has listed none. */
export type VisibleTools = (server: string) => number | undefined

/** Whether the policy denies the client everything of a server. */
export type IsHidden = (server: string) => boolean

export interface ToolState {
  readonly server: string
  readonly tool: string
  readonly state: ServerEntry['state']
  readonly use?: ToolUse
}

export interface ModelList {
  readonly default?: Omit<ModelEntry, 'kind' | 'faults' | 'providers'>
  readonly providers: Omit<ProviderEntry, 'kind'>[]
}

export function capabilities({ entries }: CatalogView): Capabilities {
  const servers = (): ServerView[] => viewServers(entries.values())
  const model = (): ModelEntry | undefined =>
    Array.from(entries.values()).find((entry) => entry.kind === 'model')
  const isComplete = (): boolean =>
    model() !== undefined && servers().every(({ state }) => state === 'ready')
  return {
    welcome: (isHidden) => welcome(Array.from(entries.values()), isHidden),
    tools: (isHidden = () => false) =>
      servers().flatMap(({ server, state, entry, tools, instances }) => {
        const { toolUse } = instances.find((each) => each.entry === entry)?.stats ?? {}
        const visible = tools.filter((tool) => !isHidden(server, tool))
        return visible.map(({ name }) => {
          const use = toolUse && ownValue(toolUse, name)
          return { server, tool: name, state, ...(use === undefined ? {} : { use }) }
        })
      }),
    models() {
      // Faults of settings are only for operators.
      const { kind: _, faults: _faults, providers: _providers, ...answering } = model() ?? {}
      const providers = presentProviders(entries.values()).map(
        ({ kind: _kind, ...provider }) => provider,
      )
      return {
        ...('model' in answering ? { default: answering } : {}),
        providers: providers.toSorted((one, other) => one.provider.localeCompare(other.provider)),
      }
    },
    storageWarnings: () =>
      Array.from(entries.values()).flatMap((entry) =>
        entry.kind === 'damage' ? describeDamage(entry) : [],
      ),
    summary: (principal, visibleTools, isHidden = () => false) => ({
      ...(isComplete() ? {} : { status: 'degraded' }),
      counts: countsOf(servers(), model()),
      ...(principal === NOBODY
        ? {}
        : {
            model: model(),
            servers: detailsOf(
              servers().filter(({ server }) => isAdmin(principal) || !isHidden(server)),
              principal,
              visibleTools,
              (server) => statsOf(server, entries.values()),
            ),
          }),
    }),
  }
}

/** The counts that everybody may see. */
function countsOf(
  servers: readonly ServerView[],
  model: ModelEntry | undefined,
): Record<string, number> {
  const ready = servers.filter(({ state }) => state === 'ready')
  return {
    models: model === undefined ? 0 : 1,
    servers: servers.length,
    ready: ready.length,
    tools: ready.reduce((sum, { tools }) => sum + tools.length, 0),
  }
}

function detailsOf(
  servers: readonly ServerView[],
  principal: Principal,
  visibleTools: VisibleTools,
  stats: (server: string) => readonly ServerStats[],
): object[] {
  return servers
    .filter(
      ({ server, tools }) =>
        // Admins restart servers, also those whose tools are all in quarantine.
        isAdmin(principal) || tools.length === 0 || visibleTools(server) !== 0,
    )
    .map(({ server, state, error, entry, tools, instances }) => ({
      server,
      state,
      since: toIso(entry.since),
      phase: entry.phase,
      isRestartPlanned: entry.isRestartPlanned,
      sandbox: entry.sandbox,
      // Lines of stderr may have secrets that users must not see.
      error: isAdmin(principal) ? explainFailure(entry) : error,
      output: isAdmin(principal) ? entry.output : undefined,
      ...healthOf(entry, instances.find((each) => each.entry === entry)?.stats),
      tools: visibleTools(server) ?? tools.length,
      // Every supervisor knows all logins.
      logins: isAdmin(principal) ? stats(server).find(({ logins }) => logins)?.logins : undefined,
      ...figuresOf(stats(server)),
      instances: instances.map((each) => ({
        supervisor: each.entry.supervisor,
        state: each.entry.state,
        restarts: each.entry.restarts,
      })),
    }))
}

function healthOf({ state }: ServerEntry, stats: ServerStats | undefined): Record<string, unknown> {
  // Statistics are published at intervals, states at once.
  const healthScore = state === 'ready' ? stats?.healthScore : 0
  return { healthScore, lastCheck: toIso(stats?.checkedAt) }
}

/** Statistics of a server at every supervisor that has run calls of it, the busiest first. */
function statsOf(server: string, entries: Iterable<CatalogEntry>): ServerStats[] {
  return Array.from(entries)
    .flatMap((entry) =>
      entry.kind === 'supervisor' ? (ownValue(entry.servers, server) ?? []) : [],
    )
    .toSorted((one, other) => other.calls - one.calls)
}

/** Calls since the supervisors started. Percentiles cannot be added, so they are those of the busiest supervisor. */
function figuresOf(stats: readonly ServerStats[]): Record<string, number | undefined> {
  const [busiest] = stats
  return {
    calls: stats.reduce((sum, { calls }) => sum + calls, 0),
    failures: stats.reduce((sum, { errors }) => sum + errors, 0),
    p50Ms: busiest?.p50Ms,
    p95Ms: busiest?.p95Ms,
  }
}

function toIso(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString()
}

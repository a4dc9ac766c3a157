import type { CatalogView } from '@mcp-host/bus'
import type {
  ModelEntry,
  ProviderEntry,
  ServerEntry,
  ServerStats,
  ServerView,
  ToolUse,
} from '@mcp-host/contracts'
import { ownValue, viewServers } from '@mcp-host/contracts'
import { welcome } from './standard-messages.ts'

/** The state of the host for clients, in several forms. */
export interface Capabilities {
  /** The welcome to a new client. */
  welcome(): string
  /** The default model, and all models. */
  models(): ModelList
  /** Every tool with the state of its server. */
  tools(): ToolState[]
  /** For `/health`: `degraded` while a server or every model is missing; the rest works. */
  summary(): Record<string, unknown>
}

export interface ToolState {
  readonly server: string
  readonly tool: string
  readonly state: ServerEntry['state']
  readonly use?: ToolUse
}

export interface ModelList {
  readonly default?: Omit<ModelEntry, 'kind' | 'faults'>
  readonly providers: Omit<ProviderEntry, 'kind'>[]
}

export function capabilities({ entries }: CatalogView): Capabilities {
  const servers = (): ServerView[] => viewServers(entries.values())
  const model = (): ModelEntry | undefined =>
    Array.from(entries.values()).find((entry) => entry.kind === 'model')
  const isComplete = (): boolean =>
    model() !== undefined && servers().every(({ state }) => state === 'ready')
  return {
    welcome: () => welcome(Array.from(entries.values())),
    tools: () =>
      servers().flatMap(({ server, state, entry, tools, instances }) => {
        const { toolUse } = instances.find((each) => each.entry === entry)?.stats ?? {}
        return tools.map(({ name }) => {
          const use = toolUse && ownValue(toolUse, name)
          return { server, tool: name, state, ...(use === undefined ? {} : { use }) }
        })
      }),
    models() {
      // Faults of settings are for operators.
      const { kind: _, faults: _faults, ...answering } = model() ?? {}
      const providers = Array.from(entries.values()).flatMap((entry) => {
        if (entry.kind !== 'provider') return []
        const { kind: _kind, ...provider } = entry
        return [provider]
      })
      return {
        ...('model' in answering ? { default: answering } : {}),
        providers: providers.toSorted((one, other) => one.provider.localeCompare(other.provider)),
      }
    },
    summary: () => ({
      ...(isComplete() ? {} : { status: 'degraded' }),
      model: model(),
      servers: servers().map(({ server, state, error, entry, tools, instances }) => ({
        server,
        state,
        since: toIso(entry.since),
        phase: entry.phase,
        error,
        output: entry.output,
        ...healthOf(entry, instances.find((each) => each.entry === entry)?.stats),
        tools: tools.length,
        instances: instances.map((each) => ({
          supervisor: each.entry.supervisor,
          state: each.entry.state,
          restarts: each.entry.restarts,
        })),
      })),
    }),
  }
}

function healthOf({ state }: ServerEntry, stats: ServerStats | undefined): Record<string, unknown> {
  // Figures are published at intervals, states at once.
  const healthScore = state === 'ready' ? stats?.healthScore : 0
  return { healthScore, lastCheck: toIso(stats?.checkedAt) }
}

function toIso(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : new Date(epochMs).toISOString()
}

import { setTimeout as delay } from 'node:timers/promises'
import type { CatalogView } from '@mcp-host/bus'
import type { ListedModel, ServerView } from '@mcp-host/contracts'
import {
  isConfigured,
  presentProviders,
  unreportedServers,
  viewServers,
  withoutAlias,
} from '@mcp-host/contracts'
import type { Tools } from '../turn/turn.ts'
import { isObject } from '@mcp-host/json'
import { sentArguments } from '@mcp-host/upstream/arguments'
import { OfferedTools } from '../tools/offered-tools.ts'

/** The time limit for waiting for servers that are starting. */
const STARTING_PATIENCE_MS = 5_000

/** For this time after an outage of the broker, servers may be missing because the catalog is not up to date yet. */
const STEADY_MS = 4_000
/** The time for which a new supervisor is expected after the last one has left, or after the start of this process. */
const SUPERVISOR_AWAY_MS = 10_000
/** The longest time until another supervisor takes over the servers of a dead one. */
const MOVING_MS = 2_000
/** The time for which a server that was ready is awaited after a failure. One that has only failed is not awaited. */
const RETURNING_MS = 10_000

/** The tools of the catalog. `sinceOutageMs`: see `Bus`. */
export function catalogTools(
  { entries, onChange }: Pick<CatalogView, 'entries' | 'onChange'>,
  sinceOutageMs: () => number,
): Tools {
  const servers = (): ServerView[] => viewServers(entries.values())
  const isKnown = (server: string): boolean => isConfigured(entries.values(), server)
  /**
   * The tools that each server listed last. They stay known while the server moves from a dead supervisor to another.
   */
  const lastTools = new Map<string, ServerView['tools']>()
  const rememberTools = (views: readonly ServerView[]): void => {
    for (const { server, tools } of views) if (tools.length > 0) lastTools.set(server, tools)
    for (const server of lastTools.keys()) if (!isKnown(server)) lastTools.delete(server)
  }
  const definitionOf: Tools['definitionOf'] = (server, tool) => {
    const { tools = [] } = servers().find((entry) => entry.server === server) ?? {}
    const known = tools.length > 0 ? tools : lastTools.get(server)
    return known?.find(({ name }) => name === tool)
  }
  const readyServers = (): Set<string> => {
    const views = servers()
    rememberTools(views)
    return new Set(views.flatMap(({ server, state }) => (state === 'ready' ? [server] : [])))
  }
  /** `known` has the ready servers of the last offer, `latest` those of the last change. */
  let known = readyServers()
  let latest = known
  /** When a server was last lost, and when each was. */
  let lostAt = -Infinity
  const lost = new Map<string, number>()
  let supervisorSeenAt = Date.now()
  const hasSupervisor = (): boolean => entries.values().some(({ kind }) => kind === 'supervisor')
  let hadSupervisor = hasSupervisor()
  onChange(() => {
    if (hadSupervisor && !hasSupervisor()) supervisorSeenAt = Date.now()
    hadSupervisor = hasSupervisor()
    const now = readyServers()
    for (const server of latest) {
      if (now.has(server)) continue
      lostAt = Date.now()
      lost.set(server, lostAt)
    }
    for (const server of lost.keys()) if (!isKnown(server)) lost.delete(server)
    latest = now
  })
  const mayReturn = (): boolean => sinceOutageMs() < STEADY_MS || Date.now() - lostAt < MOVING_MS
  const isStarting = ({ server, state, entry }: ServerView): boolean =>
    state === 'starting' &&
    (entry.error === undefined || Date.now() - (lost.get(server) ?? -Infinity) < RETURNING_MS)
  const isComing = (): boolean =>
    servers().some(isStarting) ||
    unreportedServers(entries.values()).length > 0 ||
    (!hasSupervisor() && Date.now() - supervisorSeenAt < SUPERVISOR_AWAY_MS) ||
    (mayReturn() && isLess(readyServers(), new Set(Array.from(known).filter(isKnown))))
  const cache = new OfferedTools()
  const settled = async (): Promise<OfferedTools> => {
    const giveUpAt = Date.now() + STARTING_PATIENCE_MS
    while (isComing() && Date.now() < giveUpAt) await delay(50)
    known = readyServers()
    return cache.update(servers())
  }
  return {
    offered: async () => (await settled()).tools,
    current: () => cache.update(servers()).tools,
    index: async () => (await settled()).index,
    missing: () =>
      servers()
        .filter(({ state }) => state === 'unavailable' || state === 'shutdown')
        .map(({ server }) => server),
    isConfigured: isKnown,
    definitionOf,
    async sentArguments({ server = '', tool = '', arguments: given }) {
      const definition = definitionOf(server, tool)
      if (definition === undefined || !isObject(given)) return given
      const validation = servers().find((view) => view.server === server)?.entry.validation
      // Coerced JSON is JSON.
      return (await sentArguments(definition, given, validation)) as typeof given
    },
    isRepeatable({ server = '', tool = '' }) {
      const annotations = definitionOf(server, tool)?.annotations
      return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
    },
  }
}

function isLess(now: ReadonlySet<string>, before: ReadonlySet<string>): boolean {
  return before.values().some((each) => !now.has(each))
}

/** The catalog's entry of a model by `provider/model` or `provider`, otherwise of the default model. */
export function catalogModel({
  entries,
}: Pick<CatalogView, 'entries'>): (reference?: string) => ListedWindow | undefined {
  return (given) => {
    const standard = entries.values().find((entry) => entry.kind === 'model')
    const known = presentProviders(entries.values())
    const findProvider = (name: string) => known.find(({ provider }) => provider === name)
    const asked = given ?? `${standard?.provider}/${standard?.model}`
    const reference = withoutAlias(asked, (name) => findProvider(name) !== undefined)
    const [name = ''] = reference.split('/', 1)
    const listed = findProvider(name)
    const id = reference.slice(name.length + 1) || listed?.defaultModel
    const model = listed?.models.find((each) => each.id === id && each.contextWindow !== undefined)
    return model ?? (given === undefined ? standard : listed)
  }
}

/** Whether a model is the default one, or in the list of its provider. */
export function isListedModel(
  { entries }: Pick<CatalogView, 'entries'>,
  { provider, model }: { readonly provider: string; readonly model: string },
): boolean {
  const standard = entries.values().find((entry) => entry.kind === 'model')
  if (standard?.provider === provider && standard.model === model) return true
  const listed = presentProviders(entries.values()).find((each) => each.provider === provider)
  return listed?.defaultModel === model || listed?.models.some(({ id }) => id === model) === true
}

/** The names of the providers in the catalog. */
export function catalogProviders({
  entries,
}: Pick<CatalogView, 'entries'>): () => readonly string[] {
  return () => presentProviders(entries.values()).map(({ provider }) => provider)
}

type ListedWindow = Pick<ListedModel, 'contextWindow'>

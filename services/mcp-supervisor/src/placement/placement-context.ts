import type { AuditLog } from '@mcp-host/audit'
import type { Lease } from '@mcp-host/bus'
import type { ServerEntry, ServerName } from '@mcp-host/contracts'
import { viewServers } from '@mcp-host/contracts'
import type { ServerConfig, ServerSnapshot } from '@mcp-host/upstream'
import { aborted } from '@mcp-host/async'
import { type CatalogPublisher, type HostedServerDeps, toEntry } from '@mcp-host/mcp-bus/serve'
import type { HostLogins } from '../logins/host-logins.ts'
import type { ObtainLeaseDeps, ObtainLeaseOptions } from '../leases/obtain-lease.ts'
import { obtainLease } from '../leases/obtain-lease.ts'
import type { ProcessSlots } from './process-slots.ts'
import type { ServerPauses } from './server-pauses.ts'

/** The time after which a server that waits for its dependencies is published as unavailable. */
const DEPENDENCY_PATIENCE_MS = 10_000

export interface PlacementDeps extends HostedServerDeps, ObtainLeaseDeps {
  readonly publisher: CatalogPublisher
  readonly slots: ProcessSlots
  /** Counts the connections of users to all servers together. */
  readonly userSlots: ProcessSlots
  /** How users log in at servers; absent when they cannot. */
  readonly logins?: HostLogins | undefined
  readonly pauses: Pick<ServerPauses, 'until' | 'end'>
  /** The audit log; absent when it is off. */
  readonly audit?: AuditLog | undefined
  /** Called when a removed server has ended. */
  readonly onRemoved: (server: ServerName) => void
  /** The time limit for a client's answer. */
  readonly inputTimeoutMs: number
}

/** The context of a placement policy: one configured server, its lease, dependencies and catalog entry. */
export class PlacementContext {
  readonly name: ServerName
  readonly deps: PlacementDeps
  /** Aborts when the server has to end at this supervisor. */
  readonly signal: AbortSignal
  config: ServerConfig

  constructor(deps: PlacementDeps, name: ServerName, config: ServerConfig, signal: AbortSignal) {
    this.deps = deps
    this.name = name
    this.config = config
    this.signal = signal
  }

  /** Waits for the server's lease. Throws the signal's reason. */
  async obtainLease(options: Omit<ObtainLeaseOptions, 'signal'>): Promise<Lease> {
    const { deps, name, signal } = this
    const lease = await obtainLease(deps, `server.${name}`, { signal, ...options })
    const { key, revision } = lease
    const fields = { component: 'placement', action: 'lease', server: name, key, revision }
    deps.logger.info(fields, 'this supervisor has the lease of the server')
    return lease
  }

  publish(snapshot: ServerSnapshot): void {
    this.#publishEntry(toEntry(this.deps.bus.id, this.config, snapshot))
  }

  /** Publishes the server as one whose tools are known soon. */
  publishStarting(): void {
    this.#publishEntry(this.#withoutProcess('starting'))
  }

  /** Publishes the server as one without a process here, with the reason in words for a user. */
  publishUnavailable(error: string): void {
    this.#publishEntry({ ...this.#withoutProcess('unavailable'), error })
  }

  unpublish(): void {
    this.deps.publisher.remove(this.name)
  }

  isReadyElsewhere(): boolean {
    const { bus, catalog } = this.deps
    const view = viewServers(catalog.entries.values()).find(({ server }) => server === this.name)
    return (view?.instances ?? []).some(
      ({ entry }) => entry.state === 'ready' && entry.supervisor !== bus.id,
    )
  }

  /** Waits until the dependencies are ready, at any supervisor, or the lease is lost. */
  async dependenciesReady(lease?: Lease): Promise<void> {
    if (this.#missing().length === 0) return
    const { signal } = this
    const over = lease === undefined ? signal : AbortSignal.any([lease.lost, signal])
    this.publishStarting()
    const late = setTimeout(() => {
      this.publishUnavailable(`waits for ${this.#missing().join(', ')}, which must be ready first`)
    }, DEPENDENCY_PATIENCE_MS)
    const ready = Promise.withResolvers<void>()
    using _view = this.deps.catalog.onChange(() => {
      if (this.#missing().length === 0) ready.resolve()
    })
    await Promise.race([ready.promise, aborted(over)])
    clearTimeout(late)
    signal.throwIfAborted()
  }

  #withoutProcess(state: ServerSnapshot['state']): ServerEntry {
    const { name, config } = this
    const since = Date.now()
    const lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] }
    const snapshot = { name, type: config.type, state, since, restarts: 0, ...lists }
    return toEntry(this.deps.bus.id, config, snapshot)
  }

  #missing(): string[] {
    const { dependencies = [] } = this.config
    const servers = viewServers(this.deps.catalog.entries.values())
    const ready = new Set<string>(
      servers.flatMap(({ server, state }) => (state === 'ready' ? [server] : [])),
    )
    return dependencies.filter((name) => !ready.has(name))
  }

  #publishEntry(entry: ServerEntry): void {
    if (!this.signal.aborted) this.deps.publisher.set(entry)
  }
}

import type { Lease } from '@mcp-host/bus'
import type { ServerEntry, ServerName, SessionId } from '@mcp-host/contracts'
import { viewServers } from '@mcp-host/contracts'
import type { ServerConfig, ServerRequestCallback, ServerSnapshot } from 'mcp-host'
import type { CatalogPublisher } from '../catalog/catalog-publisher.ts'
import { toEntry } from '../catalog/to-entry.ts'
import type { HostedServerDeps } from '../hosting/hosted-server.ts'
import type { MakeHost } from '../hosting/host-factory.ts'
import { aborted } from 'mcp-host/async'
import type { ObtainLeaseDeps, ObtainLeaseOptions } from './obtain-lease.ts'
import { obtainLease } from './obtain-lease.ts'
import type { ProcessSlots } from './process-slots.ts'

/** A server that waits for longer for its dependencies is shown as unavailable. */
const DEPENDENCY_PATIENCE_MS = 10_000

export interface PlacementDeps extends HostedServerDeps, ObtainLeaseDeps {
  readonly publisher: CatalogPublisher
  readonly slots: ProcessSlots
  readonly makeHost: MakeHost
  /** Called with a server that left the configuration, once it has ended. */
  readonly onRemoved: (server: ServerName) => void
  /** The time limit for a client's answer. */
  readonly inputTimeoutMs: number
  /** Asks the user, or a model, of a session. */
  readonly callbackOf: (session: SessionId) => ServerRequestCallback
}

/** One configured server, as its placement policy knows it. */
export class PlacementContext {
  readonly name: ServerName
  readonly deps: PlacementDeps
  /** Aborts when the server is to end here. */
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
    const lease = await obtainLease(this.deps, `server.${this.name}`, {
      signal: this.signal,
      ...options,
    })
    const { key, revision } = lease
    const fields = { component: 'placement', action: 'lease', server: this.name, key, revision }
    this.deps.logger.info(fields, 'this supervisor has the server now')
    return lease
  }

  publish(snapshot: ServerSnapshot): void {
    this.#publishEntry(toEntry(this.deps.bus.id, this.config, snapshot))
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

  /** Waits for the servers that must be ready first, at whichever supervisor, or until the lease is lost. */
  async dependenciesReady(lease?: Lease): Promise<void> {
    if (this.#missing().length === 0) return
    const over = lease === undefined ? this.signal : AbortSignal.any([lease.lost, this.signal])
    const waiting = this.#waiting()
    this.publish(waiting)
    const late = setTimeout(() => {
      this.#publishEntry({
        ...toEntry(this.deps.bus.id, this.config, waiting),
        state: 'unavailable',
        since: Date.now(),
        error: `waits for ${this.#missing().join(', ')}, which must be ready first`,
      })
    }, DEPENDENCY_PATIENCE_MS)
    const ready = Promise.withResolvers<void>()
    using _view = this.deps.catalog.onChange(() => {
      if (this.#missing().length === 0) ready.resolve()
    })
    await Promise.race([ready.promise, aborted(over)])
    clearTimeout(late)
    this.signal.throwIfAborted()
  }

  #missing(): string[] {
    const { dependencies = [] } = this.config
    const ready = new Set<string>(
      viewServers(this.deps.catalog.entries.values())
        .filter(({ state }) => state === 'ready')
        .map(({ server }) => server),
    )
    return dependencies.filter((name) => !ready.has(name))
  }

  #waiting(): ServerSnapshot {
    return {
      name: this.name,
      type: this.config.type,
      state: 'starting',
      since: Date.now(),
      restarts: 0,
      tools: [],
      prompts: [],
      resources: [],
      resourceTemplates: [],
    }
  }

  #publishEntry(entry: ServerEntry): void {
    if (!this.signal.aborted) this.deps.publisher.set(entry)
  }
}

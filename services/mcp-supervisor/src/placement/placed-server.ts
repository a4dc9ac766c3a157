import { isDeepStrictEqual } from 'node:util'
import type { Lease, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerEntry, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, viewServers } from '@mcp-host/contracts'
import type {
  MCPHost,
  ServerConfig,
  ServerRequestCallback,
  ServerRequestKind,
  ServerSnapshot,
} from 'mcp-host'
import type { SupervisorEvents } from '../events.ts'
import { RequestForwarder } from '../mcp-requests/request-forwarder.ts'
import type { CatalogPublisher } from '../catalog/catalog-publisher.ts'
import { defaultPlacement, toEntry } from '../catalog/catalog-publisher.ts'
import { CallStats } from '../catalog/call-stats.ts'
import type { HostedServerDeps } from '../hosting/hosted-server.ts'
import { HostedServer } from '../hosting/hosted-server.ts'
import type { ObtainLeaseDeps } from './obtain-lease.ts'
import { obtainLease } from './obtain-lease.ts'
import { pause } from './pause.ts'
import type { ProcessSlots } from './process-slots.ts'
import { DedicatedProcessPool } from './dedicated-process-pool.ts'

/** Whoever waits for longer for another server is shown as unavailable. */
const DEPENDENCY_PATIENCE_MS = 10_000
/** When tools could not be discovered. */
const DISCOVER_AGAIN_MS = 30_000

export interface PlacementDeps extends HostedServerDeps, ObtainLeaseDeps {
  readonly publisher: CatalogPublisher
  readonly places: ProcessSlots
  readonly makeHost: (answers: HostAnswers) => MCPHost
  /** Told of a server that left the configuration, once it has ended. */
  readonly onRemoved: (server: ServerName) => void
  /** How long a client may take to answer. */
  readonly inputTimeoutMs: number
  /** Asks the user, or a model, of a session. */
  readonly callbackOf: (session: SessionId) => ServerRequestCallback
}

/** What is answered of what a server asks. */
export interface HostAnswers {
  readonly callback: ServerRequestCallback
  readonly kinds: readonly ServerRequestKind[]
  /** Of the client that answers; else all of the kinds can be asked for in every way. */
  readonly capabilities?: object
  /** Whose process it is, for the log. */
  readonly sessionId?: string
}

/** What this supervisor does about one configured server, from its start until it is disposed. */
export class PlacedServer implements AsyncDisposable {
  readonly name: ServerName
  #config: ServerConfig
  readonly #deps: PlacementDeps
  readonly #stats = new CallStats()
  readonly #stop = new AbortController()
  readonly #sessions: DedicatedProcessPool | undefined
  readonly #ended: Promise<void>
  #hosted: HostedServer | undefined
  #rediscover = new AbortController()

  constructor(deps: PlacementDeps, name: ServerName, config: ServerConfig) {
    this.name = name
    this.#config = config
    this.#deps = { ...deps, events: counted(deps.events, this.#stats) }
    if (config.scope === 'session') {
      this.#sessions = new DedicatedProcessPool(this.#deps, name, config)
    }
    this.#ended = this.#run().catch((err: unknown) => {
      // The only way out.
      if (this.#stop.signal.aborted) return
      const fields = { component: 'placement', action: 'run', server: name, err }
      deps.logger.error(fields, 'a server was given up')
    })
  }

  get config(): ServerConfig {
    return this.#config
  }

  /** Takes up other instances of the same server while it runs; `false`: it has to begin anew. */
  async adapt(config: ServerConfig): Promise<boolean> {
    if (!differInInstances(this.#config, config)) return false
    // One that is not there yet may be waiting for what is wrong with the instances before.
    if (this.#hosted !== undefined && this.#hosted.snapshot?.state !== 'ready') return false
    this.#config = config
    try {
      await this.#hosted?.reload(config)
      return true
    } catch {
      // It ends just now: what begins anew has the new configuration.
      return false
    }
  }

  get stats() {
    const sessions = this.#sessions === undefined ? {} : { sessions: this.#sessions.size }
    const health = this.#hosted?.snapshot?.health
    const { score: healthScore = 0, checkedAt = 0 } = health ?? {}
    return {
      ...this.#stats.snapshot(),
      ...sessions,
      ...(health === undefined ? {} : { healthScore, checkedAt }),
    }
  }

  /** A call that another supervisor passed on. */
  runHere(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    if (this.#sessions !== undefined) return this.#sessions.runHere(served)
    throw new BusError('not-found', `the MCP server "${this.name}" is not one for each session`)
  }

  /** Its processes anew, as far as they are here. Throws `not-found` when there is none. */
  async restart(): Promise<void> {
    if (this.#sessions !== undefined) {
      await this.#sessions.restart()
      this.#rediscover.abort()
    } else if (this.#hosted !== undefined) await this.#hosted.restart()
    else throw new BusError('not-found', `the MCP server "${this.name}" does not run here`)
  }

  /** Takes no more calls, waits for those under way, stops, and only then lets others have it. */
  async drain(): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    await Promise.all([
      this.#hosted?.[Symbol.asyncDispose](),
      this.#sessions?.close({ isGraceful: false }),
    ])
    await this.#ended
  }

  async #run(): Promise<void> {
    const { placement = defaultPlacement(this.config.type) } = this.config
    if (this.#sessions !== undefined) return this.#runSessions(this.#sessions)
    try {
      if (placement === 'every') await this.#runEvery()
      else await this.#runOne()
    } finally {
      await this.#endHosted()
    }
  }

  /** Every replica runs it: who is not well leaves the calls to the others. */
  async #runEvery(): Promise<void> {
    const { signal } = this.#stop
    await this.#dependenciesReady()
    let queue: Disposable | undefined
    const update = (): void => {
      const state = this.#hosted?.snapshot?.state ?? 'starting'
      const isWanted =
        !signal.aborted &&
        (state === 'ready' || (state !== 'starting' && !this.#isReadyElsewhere()))
      if (isWanted) queue ??= this.#hosted?.serve(() => true)
      else {
        queue?.[Symbol.dispose]()
        queue = undefined
      }
    }
    using _view = this.#deps.catalog.onChange(update)
    const hosted = this.#begin(update)
    await aborted(signal)
    update()
    await hosted.drained()
  }

  /** One replica at a time runs it: whoever has the lease. */
  async #runOne(): Promise<void> {
    const { signal } = this.#stop
    for (;;) {
      const onForeign = (): Promise<void> => this.#endHosted()
      await using lease = await obtainLease(this.#deps, `server.${this.name}`, {
        signal,
        isLeftover: () => this.#hosted !== undefined,
        onForeign,
      })
      this.#logLease(lease)
      if (this.#hosted === undefined) await this.#dependenciesReady(lease)
      if (!lease.isHeld) continue
      // After an outage of the broker: the process is still there, and its state with it.
      await this.#serveUnder(lease, this.#hosted ?? this.#begin())
      if (!signal.aborted) continue
      await this.#endHosted()
      return
    }
  }

  async #serveUnder(lease: Lease, hosted: HostedServer): Promise<void> {
    const { signal } = this.#stop
    const over = AbortSignal.any([lease.lost, signal])
    // While it starts nobody answers for it: whoever calls it waits.
    await Promise.race([hosted.started(), aborted(over)])
    if (!over.aborted) {
      using _queue = hosted.serve(() => lease.isHeld)
      await aborted(over)
    }
    if (signal.aborted) await hosted.drained()
  }

  /** Any replica runs its sessions' processes; one of them tells what tools there are. */
  async #runSessions(sessions: DedicatedProcessPool): Promise<void> {
    const { signal } = this.#stop
    const queue = sessions.serve()
    try {
      for (;;) {
        await using lease = await obtainLease(this.#deps, `server.${this.name}`, {
          signal,
          isLeftover: () => false,
          onForeign: async () => this.#deps.publisher.remove(this.name),
        })
        this.#logLease(lease)
        await this.#dependenciesReady(lease)
        while (lease.isHeld && !signal.aborted) await this.#discover(lease)
      }
    } finally {
      queue[Symbol.dispose]()
      await sessions.close({ isGraceful: true })
      this.#deps.publisher.remove(this.name)
    }
  }

  /** Starts it once to learn its tools; returns when it is time to do so again. */
  async #discover(lease: Lease): Promise<void> {
    this.#rediscover = new AbortController()
    const over = AbortSignal.any([lease.lost, this.#stop.signal, this.#rediscover.signal])
    const hosted = new HostedServer(
      this.#deps,
      // Some servers list other tools to those that answer what they ask.
      this.#deps.makeHost({ callback: refuse, kinds: ['sampling', 'elicitation'] }),
      {
        name: this.name,
        config: this.config,
        onChange: (snapshot) => {
          if (snapshot.state === 'starting') this.#publish(snapshot)
        },
      },
    )
    try {
      await Promise.race([hosted.started(), aborted(over)])
      const found = hosted.snapshot
      if (found === undefined || over.aborted) return
      const { pid: _, ...lasting } = found
      this.#publish(lasting)
      await hosted[Symbol.asyncDispose]()
      if (found.state === 'ready') return await aborted(over)
      await pause(DISCOVER_AGAIN_MS, over).catch(() => undefined)
    } finally {
      await hosted[Symbol.asyncDispose]()
    }
  }

  #begin(onChange: () => void = () => undefined): HostedServer {
    const { bus, inputTimeoutMs, makeHost } = this.#deps
    const passed = new RequestForwarder({ bus, server: this.name, inputTimeoutMs })
    // All share it, so it may ask nobody.
    const host = makeHost({ callback: passed.callback, kinds: ['log'] })
    const hosted = new HostedServer(this.#deps, host, {
      name: this.name,
      config: this.config,
      passed,
      onChange: (snapshot) => {
        this.#publish(snapshot)
        onChange()
      },
    })
    this.#hosted = hosted
    return hosted
  }

  async #endHosted(): Promise<void> {
    const hosted = this.#hosted
    this.#hosted = undefined
    await hosted?.[Symbol.asyncDispose]()
    this.#deps.publisher.remove(this.name)
  }

  /** Waits for the servers that must be ready first, wherever they run. */
  async #dependenciesReady(lease?: Lease): Promise<void> {
    const { dependencies = [] } = this.config
    const { catalog } = this.#deps
    const missing = (): string[] => {
      const ready = new Set<string>(
        viewServers(catalog.entries.values())
          .filter(({ state }) => state === 'ready')
          .map(({ server }) => server),
      )
      return dependencies.filter((name) => !ready.has(name))
    }
    if (missing().length === 0) return
    const { signal } = this.#stop
    const over = lease === undefined ? signal : AbortSignal.any([lease.lost, signal])
    const waiting: ServerSnapshot = {
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
    this.#publish(waiting)
    const late = setTimeout(() => {
      const message = `waits for ${missing().join(', ')}, which must be ready first`
      this.#publishEntry({
        ...toEntry(this.#deps.bus.id, this.config, waiting),
        state: 'unavailable',
        since: Date.now(),
        error: message,
      })
    }, DEPENDENCY_PATIENCE_MS)
    const ready = Promise.withResolvers<void>()
    using _view = catalog.onChange(() => {
      if (missing().length === 0) ready.resolve()
    })
    await Promise.race([ready.promise, aborted(over)])
    clearTimeout(late)
    signal.throwIfAborted()
  }

  #publish(snapshot: ServerSnapshot): void {
    this.#publishEntry(toEntry(this.#deps.bus.id, this.config, snapshot))
  }

  #publishEntry(entry: ServerEntry): void {
    if (!this.#stop.signal.aborted) this.#deps.publisher.set(entry)
  }

  #isReadyElsewhere(): boolean {
    const { bus, catalog } = this.#deps
    const view = viewServers(catalog.entries.values()).find(({ server }) => server === this.name)
    return (view?.instances ?? []).some(
      ({ entry }) => entry.state === 'ready' && entry.supervisor !== bus.id,
    )
  }

  #logLease({ key, revision }: Lease): void {
    const fields = { component: 'placement', action: 'lease', server: this.name, key, revision }
    this.#deps.logger.info(fields, 'this supervisor has the server now')
  }
}

/** Whether both have instances, and are the same server apart from that. */
function differInInstances(before: ServerConfig, after: ServerConfig): boolean {
  const { instances: one, balance: _, ...shared } = before
  const { instances: other, balance: __, ...now } = after
  return one !== undefined && other !== undefined && isDeepStrictEqual(shared, now)
}

function counted(events: SupervisorEvents, stats: CallStats): SupervisorEvents {
  return {
    callStarted() {
      stats.started()
      events.callStarted()
    },
    callEnded(result) {
      stats.ended(result.outcome, result.durationMs)
      events.callEnded(result)
    },
    callCancelled: (...cancelled) => events.callCancelled(...cancelled),
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const refuse: ServerRequestCallback = () => {
  throw new Error('nobody is asked while the tools are listed')
}

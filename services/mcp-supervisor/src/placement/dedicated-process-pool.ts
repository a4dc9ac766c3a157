import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import type { ServerConfig, ServerRequestKind } from 'mcp-host'
import { RequestForwarder } from '../mcp-requests/request-forwarder.ts'
import { toEntry } from '../catalog/to-entry.ts'
import type { ProcessClient } from './client-processes.ts'
import { ClientProcesses } from './client-processes.ts'
import { HostedServer } from '../hosting/hosted-server.ts'
import { ClientLists } from '../catalog/client-lists.ts'
import type { DedicatedProcessesDeps } from './dedicated-processes.ts'
import type { PlacementDeps } from './placement-context.ts'
import { SessionProcesses } from './session-processes.ts'

const DEFAULT_IDLE_MS = 300_000

/** All processes of a server that runs one for each chat session and each MCP client. */
export class DedicatedProcessPool {
  readonly #deps: PlacementDeps
  readonly #name: ServerName
  readonly #config: ServerConfig
  readonly #sessions: SessionProcesses
  readonly #clients: ClientProcesses

  constructor(deps: PlacementDeps, name: ServerName, config: ServerConfig) {
    this.#deps = deps
    this.#name = name
    this.#config = config
    const { bus, peers, slots } = deps
    const own: DedicatedProcessesDeps = {
      bus,
      peers,
      slots,
      idleTimeoutMs: config.idleTimeoutMs ?? DEFAULT_IDLE_MS,
      warn: this.#warn,
    }
    this.#sessions = new SessionProcesses(
      { ...own, start: (session) => this.#forSession(session) },
      name,
    )
    this.#clients = new ClientProcesses(
      { ...own, start: (client, onLeave) => this.#forClient(client, onLeave) },
      name,
    )
  }

  get size(): number {
    return this.#sessions.size + this.#clients.size
  }

  /** Takes requests from the server's queue until disposed. */
  serve(): Disposable {
    return this.#deps.subjects.queue(this.#name, {
      runTool: (served) => this.#sessions.run(served),
      forward: (request, send) => this.#clients.forward(request, send),
    })
  }

  /** Takes a call that another supervisor passed on. */
  runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    return this.#sessions.runSessionTool(served)
  }

  /** Ends all processes; the next calls start others. */
  async restart(): Promise<void> {
    await Promise.all([this.#sessions.restart(), this.#clients.restart()])
  }

  /** Ends all; the calls under way are waited for when `isGraceful`. */
  async close(options: { isGraceful: boolean }): Promise<void> {
    await Promise.all([this.#sessions.close(options), this.#clients.close(options)])
  }

  readonly #warn = (err: unknown): void => {
    const fields = { component: 'placement', action: 'session', server: this.#name, err }
    this.#deps.logger.warn(fields, 'trouble')
  }

  #forSession(session: SessionId): HostedServer {
    const callback = this.#deps.callbackOf(session)
    const kinds: ServerRequestKind[] = ['sampling', 'elicitation']
    const host = this.#deps.makeHost({ callback, kinds, sessionId: session })
    return new HostedServer(this.#deps, host, { name: this.#name, config: this.#config })
  }

  #forClient(client: ProcessClient, onLeave: () => void): HostedServer {
    const { bus, inputTimeoutMs } = this.#deps
    const { name, capabilities, hasSession } = client
    const server = this.#name
    const own = { process: name, hasSession, capabilities }
    const forwarder = new RequestForwarder({ bus, server, inputTimeoutMs, ...own })
    const kinds: ServerRequestKind[] = [
      ...ANSWERABLE.filter((each) => Object.hasOwn(capabilities, each)),
      'log',
    ]
    const answers = { callback: forwarder.callback, kinds, capabilities, sessionId: name }
    const host = this.#deps.makeHost(answers)
    const clientLists = hasSession ? this.#listsOf(name) : undefined
    return new HostedServer(this.#deps, host, {
      name: server,
      config: this.#config,
      forwarder,
      client: name,
      clientLists,
      onLeave,
    })
  }

  #listsOf(client: string): ClientLists {
    const { bus, subjects } = this.#deps
    return new ClientLists(
      { bus, subjects, warn: this.#warn },
      {
        server: this.#name,
        client,
        toEntry: (snapshot) => toEntry(bus.id, this.#config, snapshot),
      },
    )
  }
}

const ANSWERABLE = ['sampling', 'elicitation', 'roots'] as const

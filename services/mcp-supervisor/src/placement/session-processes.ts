import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, runSessionTool } from '@mcp-host/contracts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import type { DedicatedProcessesDeps } from './dedicated-processes.ts'
import { DedicatedProcesses } from './dedicated-processes.ts'

const FORWARD_TIMEOUT_MS = 1_500

export interface SessionProcessesDeps extends DedicatedProcessesDeps {
  /** Starts a process for a session alone. */
  readonly start: (session: SessionId) => HostedServer
}

/**
 * The processes that chat sessions have of their own for one server. A session's first call starts one
 * wherever it lands; later ones are passed on to it.
 */
export class SessionProcesses implements AsyncDisposable {
  readonly #deps: SessionProcessesDeps
  readonly #server: ServerName
  readonly #processes: DedicatedProcesses<SessionId>

  constructor(deps: SessionProcessesDeps, server: ServerName) {
    this.#deps = deps
    this.#server = server
    this.#processes = new DedicatedProcesses(deps, server)
  }

  get size(): number {
    return this.#processes.size
  }

  /** Takes a call from the queue: runs it here or passes it on to the session's supervisor. */
  async run(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const { envelope, request } = served
    const place = await this.#place(request.session)
    if (!('peer' in place)) return place((server) => server.runTool(served))
    const deadline = Date.now() + FORWARD_TIMEOUT_MS
    const options = {
      envelope: childEnvelope(envelope, deadline),
      timeoutMs: FORWARD_TIMEOUT_MS,
    }
    const passedOn = { ...request, server: this.#server }
    return this.#deps.bus.call(runSessionTool, { supervisor: place.peer }, passedOn, options)
  }

  /** Takes a call that another supervisor passed on because the session is here. */
  async runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const place = await this.#place(served.request.session)
    if (!('peer' in place)) return place((server) => server.runTool(served))
    throw new BusError('unavailable', 'the session has moved; try again')
  }

  /** Ends all; the calls under way are waited for when `isGraceful`. */
  close(options: { isGraceful: boolean }): Promise<void> {
    return this.#processes.close(options)
  }

  /** Ends all processes; a session's next call starts another. */
  restart(): Promise<void> {
    return this.#processes.restart()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close({ isGraceful: false })
  }

  #place(session: SessionId): ReturnType<DedicatedProcesses<SessionId>['place']> {
    return this.#processes.place(session, () => this.#deps.start(session))
  }
}

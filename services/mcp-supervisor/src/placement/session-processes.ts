import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, runSessionTool } from '@mcp-host/contracts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import type { DedicatedProcessesDeps } from './dedicated-processes.ts'
import { DedicatedProcesses } from './dedicated-processes.ts'

const FORWARD_TIMEOUT_MS = 1_500

interface SessionProcessesDeps extends DedicatedProcessesDeps {
  /** Starts the process of a session. */
  readonly start: (session: SessionId) => HostedServer
}

/**
 * The dedicated processes of chat sessions for one server. The supervisor that gets the first call of a session starts
 * its process, and later calls are forwarded there.
 */
export class SessionProcesses extends DedicatedProcesses<SessionId> {
  readonly #start: SessionProcessesDeps['start']

  constructor(deps: SessionProcessesDeps, server: ServerName) {
    super(deps, server)
    this.#start = deps.start
  }

  /** Takes a call from the queue, and runs it here or forwards it to the supervisor with the session's process. */
  async run(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const { envelope, request } = served
    const located = await this.#locateSession(served)
    if (!('peer' in located)) return located((server) => server.runTool(served))
    const options = {
      envelope: childEnvelope(envelope),
      timeoutMs: FORWARD_TIMEOUT_MS,
      expires: true,
    }
    const call = { ...request, server: this.server }
    return this.deps.bus.call(runSessionTool, { supervisor: located.peer }, call, options)
  }

  /** Takes a call that another supervisor forwarded because this one has the session's process. */
  async runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const located = await this.#locateSession(served)
    if (!('peer' in located)) return located((server) => server.runTool(served))
    throw new BusError('unavailable', 'the session has moved; try again')
  }

  #locateSession({
    envelope,
    request: { session },
  }: ServedRequest<RunToolRequest>): ReturnType<typeof this.locate> {
    return this.locate(session, envelope.principal, () => this.#start(session))
  }
}

import type { ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName, SessionId } from '@mcp-host/contracts'
import { BusError, childEnvelope, runSessionTool } from '@mcp-host/contracts'
import type { HostedServer } from '@mcp-host/mcp-bus/serve'
import { type SessionCaller, sessionKey } from './caller-keys.ts'
import type { CallerUpstreamsDeps } from './caller-upstreams.ts'
import { CallerUpstreams } from './caller-upstreams.ts'

const PASS_ON_TIMEOUT_MS = 1_500

interface SessionCallsDeps extends CallerUpstreamsDeps {
  /** Starts the upstream of a session. */
  readonly start: (session: SessionId) => HostedServer
}

/**
 * The tool calls of chats at a server with an upstream for each session. The supervisor that gets the first call of a
 * session starts its upstream, and later calls are passed on to that supervisor.
 */
export class SessionCalls {
  readonly upstreams: CallerUpstreams<SessionCaller>
  readonly #bus: SessionCallsDeps['bus']
  readonly #server: ServerName

  constructor({ start, ...deps }: SessionCallsDeps, server: ServerName) {
    this.#bus = deps.bus
    this.#server = server
    const options = {
      server,
      key: sessionKey,
      start: ({ session }: SessionCaller) => start(session),
    }
    this.upstreams = new CallerUpstreams(deps, options)
  }

  /** Takes a call from the queue, and runs it here or passes it on to the supervisor with the session's upstream. */
  async run(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const { envelope, request } = served
    const located = await this.upstreams.locate(callerOf(served))
    if (!('peer' in located)) return located((server) => server.runTool(served))
    const options = {
      envelope: childEnvelope(envelope),
      timeoutMs: PASS_ON_TIMEOUT_MS,
      expires: true,
    }
    const call = { ...request, server: this.#server }
    return this.#bus.call(runSessionTool, { supervisor: located.peer }, call, options)
  }

  /** Takes a call that another supervisor passed on because this one has the session's upstream. */
  async runSessionTool(served: ServedRequest<RunToolRequest>): Promise<{ supervisor: string }> {
    const located = await this.upstreams.locate(callerOf(served))
    if (!('peer' in located)) return located((server) => server.runTool(served))
    throw new BusError('unavailable', 'the session has moved; try again')
  }
}

function callerOf({ envelope, request }: ServedRequest<RunToolRequest>): SessionCaller {
  return { session: request.session, principal: envelope.principal }
}

import type { McpClient, ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { SendReply } from '../mcp-requests/reply-replay-buffer.ts'
import { isObject } from 'mcp-host/json'
import { CAPABILITIES_KEY } from '../mcp-requests/eras.ts'
import type { McpReply } from '../mcp-requests/forward-request.ts'
import type { IncomingRequest } from '../mcp-requests/request-forwarder.ts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import type { DedicatedProcessesDeps, Use } from './dedicated-processes.ts'
import { DedicatedProcesses } from './dedicated-processes.ts'

/** The only client of a process. */
export interface ProcessClient {
  /** Its name on the bus. */
  readonly name: string
  readonly capabilities: object
  /** Whether it is the session of a client; else a request has it for as long as it runs. */
  readonly hasSession: boolean
}

export interface ClientProcessesDeps extends DedicatedProcessesDeps {
  readonly start: (client: ProcessClient, onLeave: () => void) => HostedServer
}

/**
 * The processes that MCP clients have of their own for one server. A client with a session has one, which it
 * reaches by its name once it runs. A request without a session has one until it is over; then another
 * may have it that says the same of itself.
 */
export class ClientProcesses {
  readonly #deps: ClientProcessesDeps
  readonly #processes: DedicatedProcesses<string>
  /** The names of those that no request has, by what they can be asked for. */
  readonly #free = new Map<string, string[]>()

  constructor(deps: ClientProcessesDeps, server: ServerName) {
    this.#deps = deps
    this.#processes = new DedicatedProcesses(deps, server)
  }

  get size(): number {
    return this.#processes.size
  }

  /** Takes a request from the queue. Throws `unavailable` when the client has its process elsewhere. */
  async forward(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const { client } = request.head
    if (client === undefined) return this.#lease(request, send)
    const use = await this.#place(sessionOf(client))
    return use((server) => server.forward(request, send))
  }

  close(options: { isGraceful: boolean }): Promise<void> {
    return this.#processes.close(options)
  }

  restart(): Promise<void> {
    return this.#processes.restart()
  }

  async #lease(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const capabilities = capabilitiesIn(request)
    const kind = JSON.stringify(capabilities)
    this.#forgetEnded()
    const name = this.#free.get(kind)?.pop() ?? `r${crypto.randomUUID()}`
    const use = await this.#place({ name, capabilities, hasSession: false })
    return use((server) => {
      const answer = server.forward(request, send)
      // Which may be long after the answer, when its caller is asked for something.
      void server.drained().then(() => {
        this.#free.set(kind, [...(this.#free.get(kind) ?? []), name])
      })
      return answer
    })
  }

  #forgetEnded(): void {
    for (const [kind, names] of this.#free) {
      const left = names.filter((each) => this.#processes.has(each))
      if (left.length > 0) this.#free.set(kind, left)
      else this.#free.delete(kind)
    }
  }

  async #place(client: ProcessClient): Promise<Use> {
    const { name } = client
    const place = await this.#processes.place(name, (use) => {
      const server = this.#deps.start(client, () => void this.#processes.end(name))
      server.serveClient(name, use)
      return server
    })
    if (!('peer' in place)) return place
    throw new BusError('unavailable', 'the client has its process elsewhere; try again')
  }
}

function sessionOf({ id, capabilities }: McpClient): ProcessClient {
  return { name: id, capabilities, hasSession: true }
}

/** Capabilities of a newer client, from the `_meta` of its request. */
function capabilitiesIn({ body }: IncomingRequest): object {
  const params: unknown = JSON.parse(new TextDecoder().decode(body))
  const said = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {}
  const capabilities = said[CAPABILITIES_KEY]
  return isObject(capabilities) ? capabilities : {}
}

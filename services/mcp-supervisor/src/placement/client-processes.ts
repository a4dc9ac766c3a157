import { MetaKey } from '@mcp-host/mcp'
import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { SendReply } from '../mcp-requests/reply-replay-buffer.ts'
import { isObject } from '@mcp-host/json'
import type { McpReply } from '../mcp-requests/forward-request.ts'
import type { IncomingRequest } from '../mcp-requests/request-forwarder.ts'
import type { HostedServer } from '../hosting/hosted-server.ts'
import type { DedicatedProcessesDeps, Use } from './dedicated-processes.ts'
import { DedicatedProcesses } from './dedicated-processes.ts'

/** The only client of a process. */
export interface ProcessClient {
  /** The client's name on the bus. */
  readonly name: string
  readonly capabilities: object
  /** Whether the client has a session. Without one, each request uses the process exclusively. */
  readonly hasSession: boolean
}

interface ClientProcessesDeps extends DedicatedProcessesDeps {
  readonly start: (client: ProcessClient, onLeave: () => void) => HostedServer
}

/**
 * The dedicated processes of MCP clients for one server. A client with a session has its own process, reached by its
 * name. A request without a session uses a process until the request ends; then a request of another client with the
 * same principal and capabilities may use it.
 */
export class ClientProcesses extends DedicatedProcesses<string> {
  readonly #start: ClientProcessesDeps['start']
  /** The names of processes without a request, by the JSON of the client's principal and capabilities. */
  readonly #free = new Map<string, string[]>()

  constructor(deps: ClientProcessesDeps, server: ServerName) {
    super(deps, server)
    this.#start = deps.start
  }

  /** Takes a request from the queue. Throws `unavailable` when the process of the client is at another supervisor. */
  async forward(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const { client } = request.head
    if (client === undefined) return this.#forwardAlone(request, send)
    const { id: name, capabilities } = client
    const use = await this.#locateClient({ name, capabilities, hasSession: true }, request)
    return use((server) => server.forward(request, send))
  }

  /** Uses a free process with the same principal and capabilities, or starts one. */
  async #forwardAlone(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const capabilities = capabilitiesIn(request)
    const key = JSON.stringify([request.envelope.principal, capabilities])
    this.#forgetEnded()
    const name = this.#free.get(key)?.pop() ?? `r${crypto.randomUUID()}`
    const use = await this.#locateClient({ name, capabilities, hasSession: false }, request)
    return use((server) => {
      const answer = server.forward(request, send)
      // A request that asks its caller continues after its reply.
      void server.drained().then(() => {
        this.#free.set(key, [...(this.#free.get(key) ?? []), name])
      })
      return answer
    })
  }

  #forgetEnded(): void {
    for (const [key, names] of this.#free) {
      const left = names.filter((each) => this.has(each))
      if (left.length > 0) this.#free.set(key, left)
      else this.#free.delete(key)
    }
  }

  async #locateClient(
    client: ProcessClient,
    { envelope }: Pick<IncomingRequest, 'envelope'>,
  ): Promise<Use> {
    const { name } = client
    const located = await this.locate(name, envelope.principal, (use) => {
      const server = this.#start(client, () => void this.end(name))
      server.serveClient(name, use)
      return server
    })
    if (!('peer' in located)) return located
    throw new BusError('unavailable', 'the client has its process elsewhere; try again')
  }
}

/** The capabilities of a client without a session, from the `_meta` of its request. */
function capabilitiesIn({ body }: IncomingRequest): object {
  const params: unknown = JSON.parse(new TextDecoder().decode(body))
  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {}
  const capabilities = meta[MetaKey.clientCapabilities]
  return isObject(capabilities) ? capabilities : {}
}

import { MetaKey } from '@mcp-host/mcp'
import type { ServerName } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import type { HostedServer, IncomingRequest, McpReply, SendReply } from '@mcp-host/mcp-bus/serve'
import { type ClientCaller, clientKey, type UpstreamClient } from './caller-keys.ts'
import { CallerUpstreams, type CallerUpstreamsDeps, type Use } from './caller-upstreams.ts'

interface ClientRequestsDeps extends CallerUpstreamsDeps {
  /** Starts the upstream of a client, which it leaves at the end of its session. */
  readonly start: (client: UpstreamClient, onLeave: () => void) => HostedServer
}

/**
 * The requests of MCP clients at a server with an upstream for each client. A client with a session has its own, reached
 * by its name. A request without a session uses one until the request ends; then a request of another client with the
 * same principal and capabilities may use it.
 */
export class ClientRequests {
  readonly upstreams: CallerUpstreams<ClientCaller>
  /** The names of upstreams without a request, by the JSON of the client's principal and capabilities. */
  readonly #free = new Map<string, string[]>()

  constructor({ start, ...deps }: ClientRequestsDeps, server: ServerName) {
    this.upstreams = new CallerUpstreams(deps, {
      server,
      key: clientKey,
      start: ({ client }, use) => {
        const { name } = client
        const started = start(client, () => void this.upstreams.end(name))
        started.serveClient(name, use)
        return started
      },
    })
  }

  /** Takes a request from the queue. Throws `unavailable` when the process of the client is at another supervisor. */
  async serveRequest(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const { client } = request.head
    if (client === undefined) return this.#serveAlone(request, send)
    const { id: name, capabilities } = client
    const use = await this.#locateClient({ name, capabilities, hasSession: true }, request)
    return use((server) => server.serveRequest(request, send))
  }

  /** Uses a free process with the same principal and capabilities, or starts one. */
  async #serveAlone(request: IncomingRequest, send: SendReply): Promise<McpReply> {
    const capabilities = capabilitiesIn(request)
    const key = JSON.stringify([request.envelope.principal, capabilities])
    this.#forgetEnded()
    const name = this.#free.get(key)?.pop() ?? `r${crypto.randomUUID()}`
    const use = await this.#locateClient({ name, capabilities, hasSession: false }, request)
    return use((server) => {
      const answer = server.serveRequest(request, send)
      // A request that asks its caller continues after its reply.
      void server.drained().then(() => {
        this.#free.set(key, [...(this.#free.get(key) ?? []), name])
      })
      return answer
    })
  }

  #forgetEnded(): void {
    for (const [key, names] of this.#free) {
      const left = names.filter((each) => this.upstreams.has(each))
      if (left.length > 0) this.#free.set(key, left)
      else this.#free.delete(key)
    }
  }

  async #locateClient(
    client: UpstreamClient,
    { envelope }: Pick<IncomingRequest, 'envelope'>,
  ): Promise<Use> {
    const located = await this.upstreams.locate({ client, principal: envelope.principal })
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

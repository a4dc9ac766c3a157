import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

import { resolvesWithin } from '@mcp-host/async'
import type { RemoteServerConfig } from '../server-config.ts'
import type { ProxyFor } from '../proxy/proxy-for.ts'
import { Intake } from '../intake/intake.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Endpoint, EndpointDeps } from './endpoint.ts'
import { limitedStreams, pacedStreams } from './paced-streams.ts'
import { WebSocketTransport } from './websocket.ts'

/** The time limit for the end of the session at the server. */
const SESSION_END_LIMIT_MS = 2000

/** A broken stream of notifications is opened again while the connection is in use. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.MAX_SAFE_INTEGER,
}

/** The endpoint of a remote server. */
export function openRemote(
  {
    limits,
    logger,
    onLeftOut,
    proxyFor,
  }: Pick<EndpointDeps, 'limits' | 'logger' | 'onLeftOut' | 'proxyFor'>,
  config: RemoteServerConfig,
): Endpoint {
  const intake: Intake = new Intake({
    limits,
    logger,
    onLeftOut,
    onExceeded: (reason) => endpoint.fail(reason),
  })
  const endpoint = new RemoteEndpoint(intake, openTransport({ intake, proxyFor }, config))
  return endpoint
}

interface RemoteTransport extends Transport {
  /** Tells the server that its session is over. */
  terminateSession?(): Promise<void>
}

function openTransport(
  { intake, proxyFor }: { readonly intake: Intake; readonly proxyFor: ProxyFor },
  { type, url, headers }: RemoteServerConfig,
): RemoteTransport {
  const address = new URL(url)
  if (type === 'websocket') return new WebSocketTransport(address, { headers, intake, proxyFor })
  const options = {
    requestInit: { headers: { ...headers } },
    fetch: limitedStreams(boundedFetch(intake)),
  }
  if (type === 'sse') return new SSEClientTransport(address, options)
  return new StreamableHTTPClientTransport(address, {
    ...options,
    fetch: pacedStreams(options.fetch),
    reconnectionOptions: RECONNECTION,
  })
}

class RemoteEndpoint implements Endpoint {
  readonly intake: Intake
  readonly transport: RemoteTransport
  readonly isPipe = false
  readonly pid = undefined
  readonly exitCode = undefined
  #failure: string | undefined
  #closed: Promise<void> | undefined

  constructor(intake: Intake, transport: RemoteTransport) {
    this.intake = intake
    this.transport = transport
  }

  get closeReason(): string | undefined {
    if (this.#failure !== undefined) return this.#failure
    if (this.transport instanceof WebSocketTransport) return this.transport.closeReason
    return this.#closed === undefined ? undefined : 'was disconnected'
  }

  /** Ends the connection after a message that cannot be accepted. */
  fail(reason: string): void {
    this.#failure ??= reason
    void this.close()
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    // The session of an unreachable server ends by itself.
    const ended = this.transport.terminateSession?.().catch(() => undefined)
    if (ended !== undefined) await resolvesWithin(ended, SESSION_END_LIMIT_MS)
    // Only a broken transport fails here, and it is closed then.
    await this.transport.close().catch(() => undefined)
  }
}

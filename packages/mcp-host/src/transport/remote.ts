import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

import type { RemoteServerConfig } from '../config/mcp-config.ts'
import type { Endpoint } from './endpoint.ts'
import { WebSocketTransport } from './websocket.ts'

/** How long a server may take to confirm the end of its session, in milliseconds. */
const GOODBYE_LIMIT_MS = 2000

/** A broken stream of notices is opened again for as long as the connection is in use. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.MAX_SAFE_INTEGER,
}

/** The way to a server that runs elsewhere. */
export function openRemote({ type, url, headers }: RemoteServerConfig): Endpoint {
  const address = new URL(url)
  const requestInit = { headers: { ...headers } }
  if (type === 'websocket') return new RemoteEndpoint(new WebSocketTransport(address, { headers }))
  if (type === 'sse') return new RemoteEndpoint(new SSEClientTransport(address, { requestInit }))
  const transport = new StreamableHTTPClientTransport(address, {
    requestInit,
    reconnectionOptions: RECONNECTION,
  })
  return new RemoteEndpoint(transport, () => transport.terminateSession())
}

class RemoteEndpoint implements Endpoint {
  readonly transport: Transport
  readonly isPipe = false
  readonly pid = undefined
  readonly exitCode = undefined
  readonly #sayGoodbye: (() => Promise<void>) | undefined
  #closed: Promise<void> | undefined

  constructor(transport: Transport, sayGoodbye?: () => Promise<void>) {
    this.transport = transport
    this.#sayGoodbye = sayGoodbye
  }

  get closeReason(): string | undefined {
    if (this.transport instanceof WebSocketTransport) return this.transport.closeReason
    return this.#closed === undefined ? undefined : 'was disconnected'
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, GOODBYE_LIMIT_MS)
    })
    // A server that is gone has ended its session too.
    const goodbye = this.#sayGoodbye?.().catch(() => undefined)
    await Promise.race([goodbye, late])
    clearTimeout(timer)
    // Only what is already broken can fail here, and then it is closed.
    await this.transport.close().catch(() => undefined)
  }
}

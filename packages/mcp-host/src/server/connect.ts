import { type Implementation, SdkHttpError, SseError } from '@modelcontextprotocol/client'

import type { RemoteServerConfig, ServerConfig } from '../config/mcp-config.ts'
import { clientCapabilities } from './client-capabilities.ts'
import { Connection, type ConnectionOptions, type EraChoice } from '../connection/connection.ts'
import { HandshakeError } from '../connection/handshake-error.ts'
import type { Mask } from '../process/mask-secrets.ts'
import type { ServerInboxDeps } from '../requests/server-inbox.ts'
import { describeCause } from '../errors/describe-cause.ts'
import { createEndpoint } from '../transport/create-endpoint.ts'
import type { Endpoint, EndpointDeps } from '../transport/endpoint.ts'

/** Statuses of servers that support only HTTP+SSE for a request of Streamable HTTP, as the protocol says. */
const REFUSALS: readonly (number | undefined)[] = [400, 404, 405]

/** The connection ended by itself; the message is why, as in `exited with code 1`. */
export class EndedError extends Error {
  override readonly name = 'EndedError'
}

export interface Connected {
  readonly connection: Connection
  /** The transport by which the server was reached. */
  readonly type: ServerConfig['type']
}

export interface ConnectDeps extends EndpointDeps {
  readonly inbox: ServerInboxDeps
  /** Takes the server's secrets out of errors and reasons. */
  readonly mask: Mask
}

export interface ConnectOptions {
  readonly config: ServerConfig
  readonly clientInfo: Implementation
  readonly era: EraChoice
  readonly graceMs: number
}

interface Way {
  readonly config: ServerConfig
  readonly era: EraChoice
}

/**
 * Opens a connection. A process that ends because it was asked for its revisions, as some old ones
 * do, is started again and not asked. A server that refuses Streamable HTTP is asked for HTTP+SSE
 * where its configuration allows.
 */
export async function connect(
  deps: ConnectDeps,
  { config, clientInfo, era, graceMs }: ConnectOptions,
  signal: AbortSignal,
  listeners: Pick<ConnectionOptions, 'prepare' | 'onClose'>,
): Promise<Connected> {
  const { answered } = deps.inbox
  const capabilities = deps.inbox.capabilities ?? clientCapabilities(answered, config.roots ?? [])
  const open = async (endpoint: Endpoint, way: Way): Promise<Connected> => {
    const onError = (error: Error): void => {
      deps.logger.warn({ action: 'receive', err: error }, 'protocol fault')
      // Its stream would be opened again as another session, which knows nothing of what was agreed.
      if (error instanceof SseError) void endpoint.close()
    }
    const { mask } = deps
    const options = { clientInfo, capabilities, signal, mask, onError, era: way.era, ...listeners }
    const connection = await Connection.open(endpoint, options)
    return { connection, type: way.config.type }
  }
  const first = { config, era }
  const endpoint = createEndpoint(deps, config, { graceMs })
  try {
    return await open(endpoint, first)
  } catch (error) {
    const second = signal.aborted ? undefined : otherWay(first, endpoint, error)
    if (second === undefined) throw withReason(error, endpoint)
    const other = createEndpoint(deps, second.config, { graceMs })
    return open(other, second).catch((last: unknown) => {
      if (second.config.type !== 'sse') throw withReason(last, other)
      const [one, two] = [describeCause(error), describeCause(last)]
      throw new Error(`by Streamable HTTP: ${one}; by HTTP+SSE: ${two}`, { cause: error })
    })
  }
}

/** Another way to reach a server after a failure. */
function otherWay({ config, era }: Way, endpoint: Endpoint, error: unknown): Way | undefined {
  if (endpoint.isPipe) {
    const endedByItself = endpoint.exitCode !== undefined
    return era === 'auto' && endedByItself ? { config, era: 'legacy' } : undefined
  }
  const status = error instanceof SdkHttpError ? error.data.status : undefined
  const mayBeSse = config.type === 'http' && config.fallback === 'sse' && era !== 'modern'
  return mayBeSse && REFUSALS.includes(status)
    ? { config: asSse(config), era: 'legacy' }
    : undefined
}

/** A server that speaks HTTP+SSE, as its configuration would say it. */
export function asSse(config: RemoteServerConfig): RemoteServerConfig {
  return { ...config, type: 'sse' }
}

/** The end of a process says more than what the SDK makes of it; that of a remote connection less. */
function withReason(error: unknown, { isPipe, closeReason }: Endpoint): unknown {
  // The host itself closed the connection because of a faulty response.
  const saysMore = isPipe && closeReason !== undefined && !(error instanceof HandshakeError)
  return saysMore ? new EndedError(closeReason, { cause: error }) : error
}

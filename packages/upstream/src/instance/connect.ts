import {
  type ClientCapabilities,
  type Implementation,
  SdkHttpError,
  SseError,
} from '@modelcontextprotocol/client'

import {
  ProtocolClient,
  type ConnectionOptions,
  type EraChoice,
} from '../connection/protocol-client.ts'
import { HandshakeError } from '../connection/handshake-error.ts'
import type { Mask } from '../errors/mask-secrets.ts'
import type { ServerInboxDeps } from '../requests/server-inbox.ts'
import { describeCause } from '../errors/describe-cause.ts'
import type { Endpoint, EndpointDeps } from '../endpoints/endpoint.ts'
import { kindOf, type ServerConfig } from '../endpoints/index.ts'

/** The statuses with which a server of HTTP+SSE refuses Streamable HTTP, according to the protocol. */
const REFUSALS: readonly (number | undefined)[] = [400, 404, 405]

/** The error for a connection that the server ended. The message is the reason, such as `exited with code 1`. */
export class EndedError extends Error {
  override readonly name = 'EndedError'
}

export interface Connected {
  readonly connection: ProtocolClient
  /** The configuration by which the server was reached: the given one, or its fallback. */
  readonly config: ServerConfig
}

export interface ConnectDeps extends EndpointDeps {
  readonly inbox: ServerInboxDeps
  /** Masks the server's secrets in errors and reasons. */
  readonly mask: Mask
}

export interface ConnectOptions {
  /** The name of the server. */
  readonly name: string
  readonly config: ServerConfig
  readonly clientInfo: Implementation
  readonly era: EraChoice
  readonly graceMs: number
}

type Attempt = Pick<ConnectOptions, 'config' | 'era'>

/**
 * Opens a connection. Some old servers end because of the probe for revisions; their process is started again without
 * the probe. A server that refuses Streamable HTTP is tried by HTTP+SSE, if its configuration allows that.
 */
export async function connect(
  deps: ConnectDeps,
  { name, config, clientInfo, era, graceMs }: ConnectOptions,
  signal: AbortSignal,
  listeners: Pick<ConnectionOptions, 'prepare' | 'onClose'>,
): Promise<Connected> {
  const capabilities = deps.inbox.capabilities ?? ownCapabilities(deps.inbox, config.roots ?? [])
  const open = async (endpoint: Endpoint, attempt: Attempt): Promise<Connected> => {
    const onError = (error: Error): void => {
      deps.logger.warn({ action: 'receive', err: error }, 'protocol fault')
      // The SDK would open its stream again as another session, without a handshake.
      if (error instanceof SseError) void endpoint.close()
    }
    const { mask } = deps
    const common = { clientInfo, capabilities, signal, mask, onError, ...listeners }
    const connection = await ProtocolClient.open(endpoint, { ...common, era: attempt.era })
    return { connection, config: attempt.config }
  }
  const first = { config, era }
  const endpoint = kindOf(config).open(deps, config, { name, graceMs })
  try {
    return await open(endpoint, first)
  } catch (error) {
    const second = signal.aborted ? undefined : nextAttempt(first, endpoint, error)
    if (second === undefined) throw withReason(error, endpoint)
    const kind = kindOf(second.config)
    const other = kind.open(deps, second.config, { name, graceMs })
    return open(other, second).catch((last: unknown) => {
      if (second.config === config) throw withReason(last, other)
      const failures = [
        `by ${kindOf(config).label}: ${describeCause(error)}`,
        `by ${kind.label}: ${describeCause(last)}`,
      ]
      throw new Error(failures.join('; '), { cause: error })
    })
  }
}

/** The client capabilities for the answered kinds of requests, and the extensions of the application. */
function ownCapabilities(
  { answered, extensions }: Pick<ServerInboxDeps, 'answered' | 'extensions'>,
  roots: readonly string[],
): ClientCapabilities {
  const elicitation = { form: { applyDefaults: true }, url: {} }
  return {
    ...(answered.has('sampling') ? { sampling: {} } : {}),
    ...(answered.has('elicitation') ? { elicitation } : {}),
    ...(answered.has('roots') || roots.length > 0 ? { roots: {} } : {}),
    ...(extensions === undefined ? {} : { extensions }),
  }
}

/** The configuration of a second attempt after a failure, if there is to be one. */
function nextAttempt(
  { config, era }: Attempt,
  endpoint: Endpoint,
  error: unknown,
): Attempt | undefined {
  if (endpoint.isPipe) {
    const endedByItself = endpoint.exitCode !== undefined
    return era === 'auto' && endedByItself ? { config, era: 'legacy' } : undefined
  }
  const status = error instanceof SdkHttpError ? error.data.status : undefined
  const fallback = era === 'modern' ? undefined : kindOf(config).fallback?.(config)
  return fallback !== undefined && REFUSALS.includes(status)
    ? { config: fallback, era: 'legacy' }
    : undefined
}

/** Replaces an error by the reason for the end of the process, which is more helpful than the SDK's error. */
function withReason(error: unknown, { isPipe, closeReason }: Endpoint): unknown {
  // After a faulty handshake the host itself has closed the connection.
  const isEnded = isPipe && closeReason !== undefined && !(error instanceof HandshakeError)
  return isEnded ? new EndedError(closeReason, { cause: error }) : error
}

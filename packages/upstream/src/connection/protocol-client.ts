import {
  Client,
  type ClientCapabilities,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  PROTOCOL_VERSION_META_KEY,
  type ProtocolEra,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client'

import { type Mask, maskError } from '../errors/mask-secrets.ts'
import { MAX_TIMER_MS } from '@mcp-host/async'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { toHandshakeError } from './handshake-error.ts'
import { Rpc, RpcClosed, type RpcRequestOptions, RpcSendError, RpcTimeout } from './rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import { PipeTap, Tap } from './tap.ts'

/** The time limit for the probe. A process that does not answer it counts as a server of an old revision. */
const PROBE_LIMIT_MS = 5000
const MODERN_REVISION = '2026-07-28'

/** The era to speak; `auto` asks the server. */
export type EraChoice = ProtocolEra | 'auto'

export interface ConnectionOptions {
  readonly clientInfo: Implementation
  readonly capabilities: ClientCapabilities
  readonly era: EraChoice
  /** Masks the server's secrets in errors and reasons. Default: none. */
  readonly mask?: Mask
  /** Aborts the handshake. */
  readonly signal: AbortSignal
  /** Called once, when the connection ends for any reason. */
  readonly onClose: () => void
  readonly onError: (error: Error) => void
  /** Sets handlers before anything is received; `hold` is `Rpc.hold`. */
  readonly prepare: (client: Client, hold: () => Disposable) => void
}

export interface ListenOptions {
  /** Ends the subscription. */
  readonly signal: AbortSignal
  /** The time limit for the request, in milliseconds. */
  readonly timeoutMs: number
  /** Called when the stream of notifications ends by itself. */
  readonly onEnd: () => void
}

/**
 * An open connection to one server. The SDK's client negotiates, and handles messages that are not responses. Requests
 * go through `Rpc` (decision 0014).
 */
export class ProtocolClient {
  readonly #endpoint: Endpoint
  readonly #client: Client
  readonly #rpc: Rpc
  readonly #mask: Mask
  #subscription: Awaited<ReturnType<Client['listen']>> | undefined

  private constructor(endpoint: Endpoint, client: Client, rpc: Rpc, mask: Mask) {
    this.#endpoint = endpoint
    this.#client = client
    this.#rpc = rpc
    this.#mask = mask
  }

  /** Opens `endpoint` and makes the handshake. Throws, with the endpoint closed, when that fails. */
  static async open(endpoint: Endpoint, options: ConnectionOptions): Promise<ProtocolClient> {
    const { clientInfo, capabilities, era, signal, onClose, prepare, mask = asIs } = options
    const onError = (error: Error): void => options.onError(maskError(error, mask))
    const client = new Client(clientInfo, {
      capabilities,
      inputRequired: { autoFulfill: false },
      versionNegotiation: {
        mode: era === 'modern' ? { pin: MODERN_REVISION } : era,
        ...(endpoint.isPipe ? { probe: { timeoutMs: PROBE_LIMIT_MS } } : {}),
      },
    })
    const isModern = (): boolean => client.getProtocolEra() === 'modern'
    const meta = (): Record<string, unknown> | undefined => {
      if (!isModern()) return undefined
      return {
        [PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion(),
        [CLIENT_INFO_META_KEY]: clientInfo,
        [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      }
    }
    const { transport } = endpoint
    const rpc = new Rpc({
      meta,
      mask,
      onListenerError: onError,
      send: (message, sendOptions) => transport.send(message, sendOptions),
      hasStreams: transport.hasPerRequestStream === true,
      hasSession: () => !isModern() && transport.sessionId !== undefined,
      cancelsByStream: isModern,
    })
    const { intake } = endpoint
    const tap = new (endpoint.isPipe ? PipeTap : Tap)(transport, { intake, rpc })
    const listeners: Pick<Client, 'onclose' | 'onerror'> = {
      onclose: () => {
        rpc.close(mask(endpoint.closeReason ?? 'closed the connection'))
        onClose()
      },
      onerror: onError,
    }
    Object.assign(client, listeners)
    prepare(client, () => rpc.hold())
    try {
      // The signal limits the handshake; the SDK's own limit must not be shorter.
      await abortable(client.connect(tap, { signal, timeout: MAX_TIMER_MS }), signal)
      return new ProtocolClient(endpoint, client, rpc, mask)
    } catch (error) {
      await endpoint.close()
      throw maskError(toHandshakeError(error), mask)
    }
  }

  get era(): ProtocolEra {
    return this.#client.getProtocolEra() ?? 'legacy'
  }

  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion()
  }

  get capabilities(): ServerCapabilities {
    return this.#client.getServerCapabilities() ?? {}
  }

  get serverInfo(): Implementation | undefined {
    return this.#client.getServerVersion()
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions()
  }

  get pid(): number | undefined {
    return this.#endpoint.pid
  }

  /** Why the connection ended; undefined while it is open. */
  get closeReason(): string | undefined {
    const reason = this.#endpoint.closeReason
    return reason === undefined ? undefined : this.#mask(reason)
  }

  /** The exit code of a process that ended by itself; null when a signal ended it. */
  get exitCode(): number | null | undefined {
    return this.#endpoint.exitCode
  }

  /** Whether each request has an HTTP request of its own, with headers. */
  get hasHeaders(): boolean {
    return this.#endpoint.transport.hasPerRequestStream === true
  }

  /** See `Rpc.request`. */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RpcRequestOptions,
  ): Promise<unknown> {
    return this.#rpc.request(method, params, options)
  }

  /** Throws as `request` when the server does not answer in time. */
  async ping(options: RpcRequestOptions): Promise<void> {
    await this.#rpc.request(this.era === 'modern' ? 'server/discover' : 'ping', {}, options)
  }

  /** Notifies a server of the legacy era; a modern one asks for roots when it needs them. */
  async notifyRootsChanged(): Promise<void> {
    if (this.era === 'legacy') await this.#client.sendRootsListChanged()
  }

  /**
   * Subscribes to notifications of a modern server. A new filter replaces the previous subscription, and an empty filter
   * ends it. Calls must not overlap. Throws as `request`.
   */
  async listen(
    filter: SubscriptionFilter,
    { signal, timeoutMs, onEnd }: ListenOptions,
  ): Promise<void> {
    const before = this.#subscription
    const timeout = Math.min(timeoutMs, MAX_TIMER_MS)
    const isEmpty = Object.keys(filter).length === 0
    const subscription = isEmpty
      ? undefined
      : await this.#client.listen(filter, { signal, timeout }).catch((error: unknown) => {
          throw maskError(toRpcError(error, timeout), this.#mask)
        })
    this.#subscription = subscription
    void subscription?.closed.then((cause) => {
      if (cause !== 'local' && this.#subscription === subscription) onEnd()
    })
    // Not earlier, so that no change between the two is missed.
    await before?.close()
  }

  /** Ends the connection, and a process with all its descendants. Never throws. */
  async close(): Promise<void> {
    await this.#endpoint.close()
  }
}

const asIs: Mask = (text) => text

/** Converts the SDK's error for a request that it sent. */
function toRpcError(cause: unknown, timeoutMs: number): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof ProtocolError) return new RpcError(cause)
  if (cause instanceof SdkError) {
    if (cause.code === SdkErrorCode.RequestTimeout) return new RpcTimeout(timeoutMs)
    if (cause.code === SdkErrorCode.ConnectionClosed) return new RpcClosed(reason)
  }
  return new RpcSendError(reason, { cause })
}

/** Rejects when the signal aborts, which the SDK ignores in some phases of a connect. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    // No caller waits for the loser of the race.
    work.catch(() => undefined)
    aborted.promise.catch(() => undefined)
  }
}

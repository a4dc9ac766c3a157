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

import { type Mask, maskError } from '../process/mask-secrets.ts'
import { MAX_TIMER_MS } from '../config/time-limit.ts'
import type { Endpoint } from '../transport/endpoint.ts'
import { toHandshakeError } from './handshake-error.ts'
import { Rpc, RpcClosed, type RpcRequestOptions, RpcSendError, RpcTimeout } from './rpc.ts'
import { RpcError } from '../errors/rpc-error.ts'
import { PipeTap, Tap } from './tap.ts'

/** A process that is silent for longer counts as one of an old revision, in milliseconds. */
const PROBE_LIMIT_MS = 5000
const MODERN_REVISION = '2026-07-28'

/** Which era to speak: `auto` asks the server. */
export type EraChoice = ProtocolEra | 'auto'

export interface ConnectionOptions {
  readonly clientInfo: Implementation
  readonly capabilities: ClientCapabilities
  readonly era: EraChoice
  /** Takes the server's secrets out of errors and reasons. Default: nothing. */
  readonly mask?: Mask
  /** Bounds the handshake. */
  readonly signal: AbortSignal
  /** Told once, when the connection ends for whatever reason. */
  readonly onClose: () => void
  readonly onError: (error: Error) => void
  /** Sets handlers before anything is received; `hold` is `Rpc.hold`. */
  readonly prepare: (client: Client, hold: () => Disposable) => void
}

export interface ListenOptions {
  /** Ends the notices. */
  readonly signal: AbortSignal
  /** The time limit for the handshake, in milliseconds. */
  readonly timeoutMs: number
  /** Told when the stream of notices ends by itself. */
  readonly onEnd: () => void
}

/**
 * An open connection to one server. The SDK's client negotiates and takes what the server sends by
 * itself; requests go their own, shorter way.
 */
export class Connection {
  readonly #endpoint: Endpoint
  readonly #client: Client
  readonly #rpc: Rpc
  readonly #mask: Mask
  #listening: Awaited<ReturnType<Client['listen']>> | undefined

  private constructor(endpoint: Endpoint, client: Client, rpc: Rpc, mask: Mask) {
    this.#endpoint = endpoint
    this.#client = client
    this.#rpc = rpc
    this.#mask = mask
  }

  /** Opens `endpoint` and shakes hands. Throws, with the endpoint closed, when that fails. */
  static async open(endpoint: Endpoint, options: ConnectionOptions): Promise<Connection> {
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
      // The signal bounds all of it; the SDK's own limit must not be shorter.
      await abortable(client.connect(tap, { signal, timeout: MAX_TIMER_MS }), signal)
      return new Connection(endpoint, client, rpc, mask)
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

  /** Why nothing more can come; undefined while it is open. */
  get closeReason(): string | undefined {
    const reason = this.#endpoint.closeReason
    return reason === undefined ? undefined : this.#mask(reason)
  }

  /** The exit code of a process that ended by itself; null when a signal ended it. */
  get exitCode(): number | null | undefined {
    return this.#endpoint.exitCode
  }

  /** Whether the server keeps a session for this connection, which it can lose. */
  get hasSession(): boolean {
    return this.#endpoint.transport.sessionId !== undefined
  }

  /** Whether requests travel in HTTP requests of their own, with headers. */
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

  /** Throws what `request` throws when the server is not there or does not answer in time. */
  async ping(options: RpcRequestOptions): Promise<void> {
    await this.#rpc.request(this.era === 'modern' ? 'server/discover' : 'ping', {}, options)
  }

  /** Notifies a server of the older protocol; a newer one asks for roots when it needs them. */
  async tellRootsChanged(): Promise<void> {
    if (this.era === 'legacy') await this.#client.sendRootsListChanged()
  }

  /**
   * Asks a server of 2026-07-28 for notices, instead of those asked for before; for none with an
   * empty filter. One call at a time. Throws what `request` throws.
   */
  async listen(
    filter: SubscriptionFilter,
    { signal, timeoutMs, onEnd }: ListenOptions,
  ): Promise<void> {
    const before = this.#listening
    const timeout = Math.min(timeoutMs, MAX_TIMER_MS)
    const isEmpty = Object.keys(filter).length === 0
    const listening = isEmpty
      ? undefined
      : await this.#client.listen(filter, { signal, timeout }).catch((error: unknown) => {
          throw maskError(toRpcError(error, timeout), this.#mask)
        })
    this.#listening = listening
    void listening?.closed.then((cause) => {
      if (cause !== 'local' && this.#listening === listening) onEnd()
    })
    // Only now, so that no change between the two is missed.
    await before?.close()
  }

  /** Ends the connection, and a process with all it started. Never throws. */
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

/** The SDK does not watch the signal in every phase of a connect. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    // The loser of the race has no caller left.
    work.catch(() => undefined)
    aborted.promise.catch(() => undefined)
  }
}

import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'

import type { Endpoint } from '../src/endpoints/endpoint.ts'
import { testIntake } from './intake.ts'

type Handler = (params: Readonly<Record<string, unknown>>) => unknown

export interface MemoryEndpointOptions {
  readonly isPipe?: boolean
  readonly hasPerRequestStream?: boolean
  /** The error that `start` throws. */
  readonly startError?: Error
}

/** Returned by a handler, leaves the request unanswered. */
export const SILENCE = Symbol('silence')

/** The handshake of a server of a revision before 2026-07-28. */
export const LEGACY: Readonly<Record<string, Handler>> = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: 'memory', version: '1.0.0' },
  }),
}

/** The handshake of a server of 2026-07-28. */
export const MODERN: Readonly<Record<string, Handler>> = {
  'server/discover': () => ({
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true }, resources: { listChanged: true } },
    instructions: 'Be modern.',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'memory', version: '2.0.0' } },
  }),
}

/** An endpoint whose server is a set of handlers in the memory of the test. */
export class MemoryEndpoint implements Endpoint, Transport {
  readonly sent: { message: JSONRPCMessage; options: TransportSendOptions | undefined }[] = []
  readonly intake = testIntake().intake
  readonly isPipe: boolean
  readonly hasPerRequestStream: boolean
  readonly pid = undefined
  readonly exitCode = undefined
  closeReason: string | undefined
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #handlers: Readonly<Record<string, Handler>>
  readonly #startError: Error | undefined

  constructor(handlers: Readonly<Record<string, Handler>>, options: MemoryEndpointOptions = {}) {
    const { isPipe = true, hasPerRequestStream = false, startError } = options
    this.#handlers = handlers
    this.isPipe = isPipe
    this.hasPerRequestStream = hasPerRequestStream
    this.#startError = startError
  }

  get transport(): Transport {
    return this
  }

  /** The methods of the messages that were sent, in order. */
  get methods(): string[] {
    return this.sent.flatMap(({ message }) => ('method' in message ? message.method : []))
  }

  async start(): Promise<void> {
    if (this.#startError !== undefined) throw this.#startError
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.sent.push({ message, options })
    if (!('method' in message) || !('id' in message)) return
    const { id, method, params = {} } = message
    const handler = this.#handlers[method]
    const answer = await Promise.resolve(
      handler === undefined
        ? { error: { code: -32_601, message: `no ${method}` } }
        : handler(params),
    )
    if (answer === SILENCE) return
    const isError = typeof answer === 'object' && answer !== null && 'error' in answer
    this.deliver({ id, ...(isError ? answer : { result: answer }) })
  }

  /** Delivers a message from the server. */
  deliver(message: object): void {
    // Tests deliver messages that no type allows.
    this.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
  }

  async close(): Promise<void> {
    this.closeReason ??= 'was closed'
    this.onclose?.()
  }
}

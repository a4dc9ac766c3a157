import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'

import { tidyMessage, withObjectResult } from './tidy-message.ts'

/**
 * A transport for the SDK's client that lets somebody else take messages out first. Careless answers are tidied;
 * everything else passes through unchanged.
 */
export class Tap implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  readonly #inner: Transport

  /** `take` answers whether the message was its own. */
  constructor(inner: Transport, take: (message: JSONRPCMessage) => boolean) {
    this.#inner = inner
    const listeners: Pick<Transport, 'onmessage' | 'onerror' | 'onclose'> = {
      onmessage: (received, extra) => {
        const message = tidyMessage(received)
        if (!take(message)) this.onmessage?.(withObjectResult(message), extra)
      },
      onerror: (error) => this.onerror?.(error),
      onclose: () => this.onclose?.(),
    }
    Object.assign(inner, listeners)
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get hasPerRequestStream(): boolean {
    return this.#inner.hasPerRequestStream === true
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }
}

/**
 * The SDK tells a pipe by these two fields: on a pipe, a server that is silent when asked for its
 * revisions speaks an old one; over a network it is away.
 */
export class PipeTap extends Tap {
  readonly stderr = null
  readonly pid = null
}

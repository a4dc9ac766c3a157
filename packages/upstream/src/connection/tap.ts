import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'

import { FloodGate } from '../intake/flood-gate.ts'
import type { Intake } from '../intake/intake.ts'
import type { Rpc } from './rpc.ts'
import { standardForm } from './standard-form.ts'
import { tidyMessage, withObjectResult } from './tidy-message.ts'

export interface TapDeps {
  readonly intake: Intake
  readonly rpc: Pick<Rpc, 'awaits' | 'receive'>
}

/**
 * A transport for the SDK's client from which `Rpc` takes its responses. Faulty responses and forms are corrected, and
 * messages that the server sends by itself pass a `FloodGate`.
 */
export class Tap implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  readonly #inner: Transport
  /** Restores the answers to forms of the server that were converted, by the ids of the requests. */
  readonly #forms = new Map<unknown, (answer: unknown) => unknown>()

  constructor(inner: Transport, { intake, rpc }: TapDeps) {
    this.#inner = inner
    const gate = new FloodGate({
      intake,
      deliver: (message) => {
        if (!rpc.receive(message)) this.onmessage?.(this.#tidyForm(withObjectResult(message)))
      },
      send: (message) => inner.send(message),
    })
    const listeners: Pick<Transport, 'onmessage' | 'onerror' | 'onclose'> = {
      onmessage: (received) => {
        const message = tidyMessage(received)
        if (!rpc.awaits(message)) return gate.receive(message)
        if ('id' in message && message.id !== undefined) gate.releaseProgress(message.id)
        rpc.receive(message)
      },
      onerror: (error) => this.onerror?.(error),
      onclose: () => {
        gate[Symbol.dispose]()
        this.onclose?.()
      },
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
    return this.#inner.send(this.#restoreAnswer(message), options)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  /** The SDK refuses forms that MCP does not allow. */
  #tidyForm(message: JSONRPCMessage): JSONRPCMessage {
    if (!('method' in message)) return message
    // A cancelled request gets no answer.
    if (message.method === 'notifications/cancelled')
      this.#forms.delete(message.params?.['requestId'])
    if (!('id' in message) || message.method !== 'elicitation/create') return message
    const { params, restore } = standardForm(message.params)
    if (params === message.params) return message
    this.#forms.set(message.id, restore)
    // The SDK checks the parameters.
    return { ...message, params } as JSONRPCMessage
  }

  #restoreAnswer(message: JSONRPCMessage): JSONRPCMessage {
    if ('method' in message) return message
    const restore = this.#forms.get(message.id)
    this.#forms.delete(message.id)
    if (restore === undefined || !('result' in message)) return message
    // The result is that of the SDK with other values in its content.
    return { ...message, result: restore(message.result) } as JSONRPCMessage
  }
}

/**
 * A `Tap` with the two fields by which the SDK detects a pipe. On a pipe, a server that does not answer the probe has
 * an old revision; over a network, it is away.
 */
export class PipeTap extends Tap {
  readonly stderr = null
  readonly pid = null
}

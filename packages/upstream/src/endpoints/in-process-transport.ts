import {
  InMemoryTransport,
  type JSONRPCMessage,
  type MessageExtraInfo,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'

import { JsonRpcCode } from '@mcp-host/mcp'
import { inPlaceOf, type Intake, refusalOf } from '../intake/intake.ts'

/**
 * A connection to a server in this process. A message passes as JSON, as between two processes: neither side sees
 * objects of the other, and the limits of `Intake` apply.
 */
export class InProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  /** Why the connection ended; undefined while it is open. */
  closeReason: string | undefined
  readonly #serve: (transport: Transport) => void | Promise<void>
  readonly #intake: Intake
  readonly #ours: InMemoryTransport
  readonly #theirs: InMemoryTransport

  constructor(serve: (transport: Transport) => void | Promise<void>, intake: Intake) {
    this.#serve = serve
    this.#intake = intake
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    this.#ours = ours
    this.#theirs = theirs
  }

  async start(): Promise<void> {
    const listeners: Pick<Transport, 'onmessage' | 'onclose'> = {
      onmessage: (message) => this.#receive(message),
      onclose: () => {
        this.closeReason ??= 'closed the connection'
        this.onclose?.()
      },
    }
    Object.assign(this.#ours, listeners)
    await this.#serve(this.#theirs)
    await this.#ours.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    // The JSON of a message is a message.
    await this.#ours.send(JSON.parse(JSON.stringify(message)) as JSONRPCMessage)
  }

  async close(): Promise<void> {
    this.closeReason ??= 'was disconnected'
    await this.#ours.close()
  }

  #receive(message: JSONRPCMessage): void {
    const bytes = toBytes(message)
    const refused = this.#intake.check(bytes)
    if (refused === undefined) return this.#take(bytes)
    const refusal = refusalOf(refused)
    // A server that has ended needs no refusal.
    if (refusal !== undefined) this.#ours.send(refusal).catch(() => undefined)
    const answer = inPlaceOf(refused)
    if (answer !== undefined) this.onmessage?.(answer)
  }

  #take(bytes: Buffer): void {
    try {
      this.onmessage?.(parseJSONRPCMessage(JSON.parse(bytes.toString())))
    } catch (error) {
      if (!this.#intake.takeUseless()) return
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** The JSON of a message; for a response that has none, such as one with a circle, that of an error response. */
function toBytes(message: JSONRPCMessage): Buffer {
  try {
    return Buffer.from(JSON.stringify(message))
  } catch (error) {
    if ('method' in message) throw error
    const reason = `its answer is no JSON (${error instanceof Error ? error.message : String(error)})`
    const answer = {
      jsonrpc: '2.0',
      id: message.id,
      error: { code: JsonRpcCode.parse, message: reason },
    }
    return Buffer.from(JSON.stringify(answer))
  }
}

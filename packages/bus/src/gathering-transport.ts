import type { Socket } from 'node:net'
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js'

/**
 * Writes all commands of one turn of the event loop at once. The client would make a system call for nearly each
 * command.
 */
export class GatheringTransport extends NodeTransport {
  #isGathering = false

  override send(frame: Uint8Array): void {
    // Undefined once the connection is closed, although its type does not say so.
    const socket = this.socket as Socket | undefined
    if (!this.#isGathering && socket !== undefined) {
      this.#isGathering = true
      socket.cork()
      setImmediate(() => {
        this.#isGathering = false
        socket.uncork()
      })
    }
    super.send(frame)
  }
}

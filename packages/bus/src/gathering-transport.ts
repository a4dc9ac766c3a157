import type { Socket } from 'node:net'
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js'

/**
 * The client makes a system call of nearly every command. Here those of one turn of the event loop go out
 * together, at its end.
 */
export class GatheringTransport extends NodeTransport {
  #isGathering = false

  override send(frame: Uint8Array): void {
    // It has none once it is closed, whatever its type says.
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

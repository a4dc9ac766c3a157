import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Connections in tiny chunks that are read in one turn of the event loop. With fewer, more requests meet such a turn. */
const READS_PER_TURN = 10

/**
 * Spreads the reads of many connections that send tiny chunks at the same time. Node.js parses up to 64 KiB of each at
 * once, which takes tens of milliseconds in tiny chunks; other requests would wait for all of them.
 */
export class PacedConnections {
  /** Those whose next bytes may be tiny chunks: new ones, and those of bodies in chunks. */
  readonly #suspects = new Set<Socket>()
  readonly #held: Socket[] = []
  /** In this turn. */
  #reads = 0

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#suspects.add(socket)
      socket.once('close', () => this.#suspects.delete(socket))
    })
    server.prependListener('request', ({ headers, socket }) => {
      if (headers['transfer-encoding'] === undefined) this.#suspects.delete(socket)
      else this.#suspects.add(socket)
    })
  }

  /** Called when a connection sends tiny chunks. After some, no other is read in this turn. */
  countTiny(socket: Socket): void {
    this.#suspects.delete(socket)
    this.#reads += 1
    if (this.#reads === 1 && this.#held.length === 0) setImmediate(this.#nextTurn)
    if (this.#reads < READS_PER_TURN) return
    for (const other of this.#suspects) {
      if (other.isPaused()) continue
      other.pause()
      this.#held.push(other)
    }
  }

  readonly #nextTurn = (): void => {
    this.#reads = 0
    for (const socket of this.#held.splice(0, READS_PER_TURN)) socket.resume()
    if (this.#held.length > 0) setImmediate(this.#nextTurn)
  }
}

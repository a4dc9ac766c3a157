import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Held connections that are read in one turn of the event loop. */
const READS_PER_TURN = 20
/** Others are held for so long after one has sent tiny chunks: requests meet few long turns instead of many short ones. */
const HOLD_MS = 50

/**
 * Spreads the reads of many connections that send tiny chunks at the same time. Node.js parses up to 64 KiB of each at
 * once, which takes tens of milliseconds in tiny chunks; other requests would wait for all of them.
 */
export class PacedConnections {
  /** Those whose next bytes may be tiny chunks: new ones, and those of bodies in chunks. */
  readonly #suspects = new Set<Socket>()
  /** Suspects that are not read now, the oldest first. */
  readonly #held = new Set<Socket>()
  #release: NodeJS.Timeout | undefined

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#suspects.add(socket)
      if (this.#release !== undefined || this.#held.size > 0) this.#hold(socket)
      socket.once('close', () => {
        this.#suspects.delete(socket)
        this.#held.delete(socket)
      })
    })
    server.prependListener('request', ({ headers, socket }) => {
      if (headers['transfer-encoding'] === undefined) this.#suspects.delete(socket)
      else this.#suspects.add(socket)
    })
    // Their frames are paced elsewhere.
    server.prependListener('upgrade', ({ socket }) => this.#suspects.delete(socket))
  }

  /** Called when a connection sends tiny chunks. Others are not read for a moment. */
  countTiny(socket: Socket): void {
    this.#suspects.delete(socket)
    for (const other of this.#suspects) if (!other.isPaused()) this.#hold(other)
    this.#release ??= setTimeout(() => {
      this.#release = undefined
      this.#readSome()
    }, HOLD_MS)
  }

  #hold(socket: Socket): void {
    socket.pause()
    this.#held.add(socket)
  }

  #readSome(): void {
    for (const socket of [...this.#held].slice(0, READS_PER_TURN)) {
      this.#held.delete(socket)
      // The others of this turn must not hold it.
      this.#suspects.delete(socket)
      socket.resume()
    }
    if (this.#held.size === 0) return
    setImmediate(() => {
      if (this.#release === undefined) this.#readSome()
    })
  }
}

import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Pace } from 'mcp-host/frames'
import { PacedConnection, TokenBucket } from 'mcp-host/frames'

interface FrameLimits {
  /** The frames that are handled at once: up to a millisecond of work. */
  readonly maxFrames: number
  /** The frames of one socket that are read without a pause. */
  readonly own: { readonly perSecond: number; readonly burst: number }
  /** The rate of further frames, of all sockets together. Each socket gets its turn. */
  readonly sharedPerMs: number
}

const MCP: FrameLimits = {
  maxFrames: 32,
  own: { perSecond: 300, burst: 1_000 },
  sharedPerMs: 4,
}
/** The check of a frame takes longer, and nobody writes so much. */
const CHAT: FrameLimits = { maxFrames: 8, own: { perSecond: 100, burst: 300 }, sharedPerMs: 1 }

/**
 * The connections that become sockets. One read of one of them may have ten thousand frames, so they are passed on in
 * small pieces, and beyond a rate one socket after another.
 */
export class PacedUpgrades {
  /** Emits `upgrade` as a server does. */
  readonly server = new EventEmitter()
  readonly #connections = new WeakMap<IncomingMessage, Duplex>()
  /** The time until which the shared rate is used up. */
  #usedUntil = 0

  constructor(server: Server) {
    server.on('upgrade', (request, socket, received) => {
      const limits = request.url?.startsWith('/mcp') === true ? MCP : CHAT
      const { maxFrames } = limits
      const pace = this.#pace(limits)
      const connection = new PacedConnection(socket as Socket, { pace, maxFrames, received })
      this.#connections.set(request, connection)
      this.server.emit('upgrade', request, connection, Buffer.alloc(0))
    })
  }

  /** What the socket of a request reads from. */
  connectionOf(request: IncomingMessage): Duplex {
    return this.#connections.get(request) ?? request.socket
  }

  #pace({ own: limits, sharedPerMs }: FrameLimits): Pace {
    const own = new TokenBucket(limits)
    return (_, frames) => {
      if (own.take(frames)) return undefined
      const now = performance.now()
      this.#usedUntil = Math.max(now, this.#usedUntil) + frames / sharedPerMs
      const waitMs = this.#usedUntil - now
      return new Promise((resolve) => void setTimeout(resolve, waitMs))
    }
  }
}

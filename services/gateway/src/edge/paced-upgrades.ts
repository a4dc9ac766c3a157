import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pace } from '@mcp-host/upstream/frames'
import { PacedConnection, TokenBucket } from '@mcp-host/upstream/frames'
import type { WebSocket, WebSocketServer } from 'ws'
import type { OwnerOf } from './oldest-first.ts'
import { addressOf, OldestFirst, PIECE_BYTES, SMALL_BYTES, TOTAL_BYTES } from './oldest-first.ts'
import { ReadBudget } from './read-budget.ts'

/** Limits for the pieces of one message, each of which costs about 300 bytes regardless of its size. */
export const FRAME_PIECES = { maxFragments: 1_024, maxBufferedChunks: 16 * 1_024 }

interface FrameLimits {
  /** The frames that are handled at once: up to a millisecond of work. */
  readonly maxFrames: number
  /** The frames of one socket that are read without a pause. */
  readonly own: { readonly perSecond: number; readonly burst: number }
  /** The rate of further frames, of all sockets together. Each socket gets its turn. */
  readonly sharedPerMs: number
  /** The cost of a byte of a large message. */
  readonly byteCost: number
}

const MCP: FrameLimits = {
  maxFrames: 32,
  own: { perSecond: 300, burst: 1_000 },
  sharedPerMs: 4,
  byteCost: 1,
}
/** The check of a frame takes longer, and nobody writes so much. */
const CHAT: FrameLimits = {
  maxFrames: 8,
  own: { perSecond: 100, burst: 300 },
  sharedPerMs: 1,
  byteCost: 3,
}
/** Whether the route of an upgrade is one of MCP; all others are of chats. */
export type IsMcp = (request: IncomingMessage) => boolean

/** So many bytes of a small message count as a frame. */
const FRAME_BYTES = 4 * 1024
/** Time that a client has to answer the close of its socket. */
const CLOSE_LIMIT_MS = 1_000

/**
 * The connections that become sockets. One read of one of them may have ten thousand frames, so they are passed on in
 * small pieces, and beyond a rate one socket after another.
 */
export class PacedUpgrades {
  /** Emits `upgrade` as a server does. */
  readonly server = new EventEmitter()
  readonly #budget: ReadBudget
  readonly #unfinished: OldestFirst<IncomingMessage>
  readonly #ownerOf: OwnerOf
  /** Those that are not being closed here. */
  readonly #sockets = new WeakMap<IncomingMessage, WebSocket>()
  /** The time until which the shared rate is used up. */
  #usedUntil = 0

  /** `isMcp` and `ownerOf` are asked once the request has its route and its principal. `budget` is for large messages. */
  constructor(
    server: Server,
    isMcp: IsMcp,
    budget = new ReadBudget(),
    {
      totalBytes = TOTAL_BYTES,
      ownerOf = addressOf,
    }: { readonly totalBytes?: number; readonly ownerOf?: OwnerOf } = {},
  ) {
    this.#budget = budget
    this.#ownerOf = ownerOf
    this.#unfinished = new OldestFirst(totalBytes, (request) => this.#close(request))
    server.on('upgrade', (request, socket, received) => {
      const connection = new PacedConnection(socket as Socket, () => {
        const limits = isMcp(request) ? MCP : CHAT
        return { pace: this.#pace(request, limits), maxFrames: limits.maxFrames, received }
      })
      connection.on('close', () => this.#unfinished.set(request, '', 0))
      this.server.emit('upgrade', request, connection, Buffer.alloc(0))
    })
  }

  /** The memory of the large messages whose end is still to come. */
  get unfinishedBytes(): number {
    return this.#unfinished.bytes
  }

  /** Closes sockets of this server whose messages take too much memory. */
  watch(sockets: WebSocketServer): void {
    sockets.on('connection', (socket, request) => this.#sockets.set(request, socket))
  }

  #pace(request: IncomingMessage, limits: FrameLimits): Pace {
    const own = new TokenBucket(limits.own)
    let pieces = 0
    let before = 0
    return (bytes, frames, unfinished) => {
      // Otherwise the message began in this piece.
      pieces = unfinished > bytes ? pieces + 1 : 1
      const memory = unfinished === 0 ? 0 : unfinished + pieces * PIECE_BYTES
      if (this.#sockets.has(request)) this.#unfinished.set(request, this.#ownerOf(request), memory)
      const isLarge = Math.max(before, unfinished) > SMALL_BYTES
      before = unfinished
      if (isLarge) return this.#budget.turn(bytes * limits.byteCost, this.#ownerOf(request))
      const cost = Math.max(frames, bytes / FRAME_BYTES)
      if (own.take(cost)) return undefined
      const now = performance.now()
      this.#usedUntil = Math.max(now, this.#usedUntil) + cost / limits.sharedPerMs
      return delay(this.#usedUntil - now)
    }
  }

  #close(request: IncomingMessage): void {
    const socket = this.#sockets.get(request)
    this.#sockets.delete(request)
    socket?.close(1013, 'message: too much is being received right now; try again later')
    setTimeout(() => socket?.terminate(), CLOSE_LIMIT_MS).unref()
  }
}

import type { IncomingMessage } from 'node:http'
import type { WebSocketServer } from 'ws'
import type { UnfinishedMessages } from '../edge/unfinished-messages.ts'
import { MAX_REQUEST_BYTES } from '../mcp/core/limits.ts'
import { MAX_FRAME_BYTES } from '../socket/read-frame.ts'

/** A frame that is too large by less than this factor is answered with an error; a larger one closes the socket (1009). */
const ANSWERED = 2

/** Pieces in which one message may come: each costs about 300 bytes, however small it is. */
export const FRAME_PIECES = { maxFragments: 1_024, maxBufferedChunks: 16 * 1_024 }

/** Sets the largest frame of each socket by its endpoint; the library has one limit for all. */
export function limitFrames(server: WebSocketServer, unfinished: UnfinishedMessages): void {
  // The limit of a socket is read right after this event.
  server.on('headers', (_: readonly string[], { url = '' }: IncomingMessage) => {
    const isMcp = url.startsWith('/mcp')
    server.options.maxPayload = ANSWERED * (isMcp ? MAX_REQUEST_BYTES : MAX_FRAME_BYTES)
  })
  server.on('connection', (socket, { socket: connection }) => unfinished.watch(socket, connection))
}

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocketServer } from 'ws'
import type { UnfinishedMessages } from '../edge/unfinished-messages.ts'
import { MAX_REQUEST_BYTES } from '../mcp/core/limits.ts'
import { MAX_FRAME_BYTES } from '../socket/read-frame.ts'

/** A frame up to this multiple of the limit is answered with an error. A larger one closes the socket (1009). */
const ANSWERED = 2

/** Limits for the pieces of one message, each of which costs about 300 bytes regardless of its size. */
export const FRAME_PIECES = { maxFragments: 1_024, maxBufferedChunks: 16 * 1_024 }

/** Sets the largest frame of each socket by its endpoint. The library has one limit for all sockets. */
export function limitFrames(
  server: WebSocketServer,
  unfinished: UnfinishedMessages,
  connectionOf: (request: IncomingMessage) => Duplex = ({ socket }) => socket,
): void {
  // The library reads the limit of a socket right after this event.
  server.on('headers', (_: readonly string[], { url = '' }: IncomingMessage) => {
    const isMcp = url.startsWith('/mcp')
    server.options.maxPayload = ANSWERED * (isMcp ? MAX_REQUEST_BYTES : MAX_FRAME_BYTES)
  })
  server.on('connection', (socket, request) => unfinished.watch(socket, connectionOf(request)))
}

import type { IncomingMessage } from 'node:http'
import type { WebSocketServer } from 'ws'
import { MAX_REQUEST_BYTES } from '../mcp/core/limits.ts'
import { MAX_FRAME_BYTES } from '../socket/read-frame.ts'

/** A frame up to this multiple of the limit is answered with an error. A larger one closes the socket (1009). */
const ANSWERED = 2

/** Sets the largest frame of each socket by its endpoint. The library has one limit for all sockets. */
export function limitFrames(server: WebSocketServer): void {
  // The library reads the limit of a socket right after this event.
  server.on('headers', (_: readonly string[], { url = '' }: IncomingMessage) => {
    const isMcp = url.startsWith('/mcp')
    server.options.maxPayload = ANSWERED * (isMcp ? MAX_REQUEST_BYTES : MAX_FRAME_BYTES)
  })
}

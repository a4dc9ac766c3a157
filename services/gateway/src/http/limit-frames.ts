import { MAX_REQUEST_BYTES } from '@mcp-host/mcp-endpoint'
import type { WebSocketServer } from 'ws'
import type { IsMcp } from '../edge/paced-upgrades.ts'
import { MAX_FRAME_BYTES } from '../socket/read-frame.ts'

/** A frame up to this multiple of the limit is answered with an error. A larger one closes the socket (1009). */
const ANSWERED = 2

/** Sets the largest frame of each socket by its route. The library has one limit for all sockets. */
export function limitFrames(server: WebSocketServer, isMcp: IsMcp): void {
  // The library reads the limit of a socket right after this event.
  server.on('headers', (_, request) => {
    server.options.maxPayload = ANSWERED * (isMcp(request) ? MAX_REQUEST_BYTES : MAX_FRAME_BYTES)
  })
}

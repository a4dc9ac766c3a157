import { DuplexSession, type DuplexSessionDeps } from '@mcp-host/mcp-endpoint'
import type { WebSocket } from 'ws'
import type { GatewayEvents } from '../events.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { startHeartbeat } from '../edge/heartbeat.ts'
import { takesFrames } from '../edge/takes-frames.ts'

export interface McpSocketDeps extends Pick<
  DuplexSessionDeps,
  'endpoint' | 'virtualServer' | 'principal'
> {
  /** Aborts when the gateway begins to drain. */
  readonly draining: AbortSignal
  readonly events: McpSocketEvents
}

export type McpSocketEvents = Pick<
  GatewayEvents,
  'mcpSocketOpened' | 'mcpSocketClosed' | 'mcpMessage'
>

/** The WebSocket subprotocol of MCP. */
export const SUBPROTOCOL = 'mcp'
/** Limit for unread bytes, besides the largest message. A client above it is disconnected, and may reconnect. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** The time limit for the client's close frame. */
const CLOSE_LIMIT_MS = 1_000

/** Serves MCP on one socket, with one message per frame. Resolves when the socket and its session have ended. */
export async function serveMcpSocket(
  { endpoint, virtualServer, principal, draining, events }: McpSocketDeps,
  socket: WebSocket,
  { heartbeatMs }: { heartbeatMs: number },
): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  // A broken connection also closes, and needs no further handling.
  socket.on('error', () => undefined)
  using stack = new DisposableStack()
  events.mcpSocketOpened()
  stack.defer(() => events.mcpSocketClosed())
  stack.defer(startHeartbeat(socket, heartbeatMs))
  /** The size of the largest queued message. */
  let largest = 0
  const session = new DuplexSession({
    endpoint,
    virtualServer,
    principal,
    closing: draining,
    send(message) {
      if (socket.readyState !== socket.OPEN) return
      const waiting = socket.bufferedAmount
      if (waiting === 0) largest = 0
      if (waiting - largest > MAX_WAITING_BYTES) return socket.close(1013, 'messages are not read')
      largest = Math.max(largest, message.length)
      socket.send(message, { binary: false })
      events.mcpMessage('out')
    },
  })
  const closeOnceIdle = (): void => {
    if (!draining.aborted || !session.isIdle) return
    socket.close(1012, MAINTENANCE)
    const late = setTimeout(() => socket.terminate(), CLOSE_LIMIT_MS)
    stack.defer(() => clearTimeout(late))
  }
  // The socket joins the fragments of a frame. Binary frames are read like text frames.
  socket.on('message', (data) => {
    if (!takesFrames(socket, draining)) return
    events.mcpMessage('in')
    void session.take(data as Buffer).finally(closeOnceIdle)
  })
  draining.addEventListener('abort', closeOnceIdle)
  stack.defer(() => draining.removeEventListener('abort', closeOnceIdle))
  closeOnceIdle()
  await closed
  await session.leave()
}

import type { WebSocket } from 'ws'
import type { GatewayEvents } from '../events.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { startHeartbeat } from '../edge/heartbeat.ts'
import type { DuplexSessionDeps } from './core/duplex-session.ts'
import { DuplexSession } from './core/duplex-session.ts'

export interface McpSocketDeps extends Pick<DuplexSessionDeps, 'endpoint' | 'virtualServer'> {
  /** Aborts when no more is taken. */
  readonly draining: AbortSignal
  readonly events: McpSocketEvents
}

export type McpSocketEvents = Pick<
  GatewayEvents,
  'mcpSocketOpened' | 'mcpSocketClosed' | 'mcpMessage'
>

/** The name of MCP among what may be spoken over a WebSocket. */
export const SUBPROTOCOL = 'mcp'
/** A client that does not read is left to come back: so much waits for it, besides the largest message. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** The time limit for the client's close frame. */
const CLOSE_LIMIT_MS = 1_000

/** The life of one socket: MCP, one message to a frame. Resolves when it, and its session, are over. */
export async function serveMcpSocket(
  { endpoint, virtualServer, draining, events }: McpSocketDeps,
  socket: WebSocket,
  { heartbeatMs }: { heartbeatMs: number },
): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  // A broken connection also closes; there is nothing else to do about it.
  socket.on('error', () => undefined)
  using stack = new DisposableStack()
  events.mcpSocketOpened()
  stack.defer(() => events.mcpSocketClosed())
  stack.defer(startHeartbeat(socket, heartbeatMs))
  /** The size of the largest queued message. */
  let largest = 0
  const conversation = new DuplexSession({
    endpoint,
    virtualServer,
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
    if (!draining.aborted || !conversation.isIdle) return
    socket.close(1012, MAINTENANCE)
    const late = setTimeout(() => socket.terminate(), CLOSE_LIMIT_MS)
    stack.defer(() => clearTimeout(late))
  }
  // The socket hands out whole frames. Binary ones are no other than text here.
  socket.on('message', (data) => {
    events.mcpMessage('in')
    void conversation.take(data as Buffer).finally(closeOnceIdle)
  })
  draining.addEventListener('abort', closeOnceIdle)
  stack.defer(() => draining.removeEventListener('abort', closeOnceIdle))
  closeOnceIdle()
  await closed
  await conversation.leave()
}

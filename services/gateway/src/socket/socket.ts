import type { FollowItem } from '@mcp-host/bus'
import type { Down, SessionEvent, ToolProgressDown, Up } from '@mcp-host/contracts'
import { BusError, formatCursor, newEnvelope } from '@mcp-host/contracts'
import type { FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { GatewayEvents } from '../events.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { followSession } from '../session/follow-session.ts'
import { Connection } from '../connection/connection.ts'
import { errorFrame } from '../connection/error-frame.ts'
import type { SocketDeps } from '../connection/socket-deps.ts'
import { handlers } from './handlers/index.ts'
import { startHeartbeat } from '../edge/heartbeat.ts'
import { askedSession, openSession } from './open-session.ts'
import { readFrame } from './read-frame.ts'

type ConnectionDown = Extract<Down, { type: 'connection' }>

/** The life of one client socket. */
export async function serveSocket(
  deps: SocketDeps,
  socket: WebSocket,
  request: FastifyRequest,
  { heartbeatMs }: { heartbeatMs: number },
): Promise<void> {
  const { bus, logger, events, connections, welcome, draining } = deps
  const closed = new AbortController()
  socket.on('close', () => closed.abort())
  // A broken connection also closes; there is nothing else to do about it.
  socket.on('error', () => undefined)
  // Frames that come before the session is open stay where they are.
  socket.pause()
  const opened = await openSession(deps, request.query).catch((error: unknown) =>
    BusError.from(error),
  )
  using _listening = opened instanceof BusError ? undefined : opened.listening
  // Looked at last: the gateway may have begun to drain meanwhile.
  const refused = { sessionId: askedSession(request.query) }
  if (draining.aborted) {
    return refuse(socket, { state: 'reconnecting', message: MAINTENANCE, ...refused }, 1012)
  }
  if (opened instanceof BusError) {
    if (opened.code === 'internal') {
      logger.error({ component: 'socket', action: 'open', err: opened }, 'a session was not opened')
    }
    const isFaulty = opened.code === 'invalid' || opened.code === 'not-found'
    const { message } = opened
    return refuse(socket, { state: 'error', message, ...refused }, isFaulty ? 1008 : 1013)
  }
  const { sessionId, cursor, queueAfter, isReconnect } = opened
  const userAgent = request.headers['user-agent'] ?? ''
  const id = formatCursor(cursor)
  const connection = new Connection(socket, {
    sessionId,
    userAgent,
    lastEventId: id,
    isReconnect,
  })
  const { clientId } = connection
  const fields = { component: 'socket', sessionId, clientId }
  connections.add(connection)
  events.socketOpened()
  logger.info({ ...fields, action: 'open', userAgent, isReconnect }, 'socket opened')
  const stopHeartbeat = startHeartbeat(socket, heartbeatMs)
  try {
    void connection.send({
      type: 'connection',
      id,
      payload: {
        state: isReconnect ? 'reconnected' : 'connected',
        message: isReconnect ? 'Reconnected' : welcome(),
        sessionId,
      },
    })
    socket.on('message', (data, isBinary) =>
      takeFrame(deps, connection, () => readFrame(data, isBinary)),
    )
    socket.resume()
    const options = {
      envelope: newEnvelope('local'),
      signal: closed.signal,
      watch: { after: queueAfter, item: (item: FollowItem) => connection.queue.item(item) },
    }
    for await (const event of followSession(bus, sessionId, cursor, options)) {
      noteFirstText(events, connection, event)
      await connection.send(event)
      if (event.type === 'session') connection.close(1000, 'session deleted')
    }
  } catch (err) {
    logger.error({ ...fields, action: 'follow', err }, 'a stream broke off')
    connection.close(1011, 'reconnect with the last id')
  } finally {
    stopHeartbeat()
    connection.queue[Symbol.dispose]()
    connections.delete(connection)
    events.socketClosed()
    const { connectedAt, lastActiveAt } = connection
    logger.info({ ...fields, action: 'close', connectedAt, lastActiveAt }, 'socket closed')
  }
}

/** Tells a client why it gets no session. */
function refuse(socket: WebSocket, payload: ConnectionDown['payload'], code: number): void {
  socket.send(JSON.stringify({ type: 'connection', payload }))
  // Closing takes an answer of the client.
  socket.resume()
  socket.close(code, payload.message.slice(0, 120))
}

function takeFrame(deps: SocketDeps, connection: Connection, read: () => Up): void {
  connection.lastActiveAt = new Date()
  let messageId: string | undefined
  try {
    const frame = read()
    if (deps.draining.aborted && frame.type !== 'ping') {
      messageId = ownId(frame)
      throw new BusError('unavailable', MAINTENANCE)
    }
    // The table has a handler for each type, which TypeScript cannot see through the union.
    const handle = handlers[frame.type] as (
      ...args: [SocketDeps, Connection, typeof frame]
    ) => Promise<void> | void
    void handle(deps, connection, frame)
  } catch (error) {
    void connection.send(errorFrame(error, { sessionId: connection.sessionId, messageId }))
  }
}

/** The id by which a client knows its frame again. */
function ownId(frame: Exclude<Up, { type: 'ping' }>): string | undefined {
  return frame.type === 'cancel' ? frame.payload.messageId : frame.payload.id
}

/** Measures from the message to the first word of its answer, at the socket that sent it. */
function noteFirstText(
  events: GatewayEvents,
  connection: Connection,
  event: SessionEvent | ToolProgressDown,
): void {
  if (event.type === 'turn' && event.payload.state === 'started') {
    connection.answering = connection.unanswered.get(event.payload.messageId)
    connection.unanswered.delete(event.payload.messageId)
  } else if (event.type === 'text' && connection.answering !== undefined) {
    events.firstText((performance.now() - connection.answering) / 1_000)
    connection.answering = undefined
  }
}

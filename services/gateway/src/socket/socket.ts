import type { FollowItem } from '@mcp-host/bus'
import type { Down, SessionEvent, ToolProgressDown } from '@mcp-host/contracts'
import { BusError, formatCursor, newEnvelope } from '@mcp-host/contracts'
import type { FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import type { GatewayEvents } from '../events.ts'
import { MAINTENANCE } from '../standard-messages.ts'
import { auditForeignSession } from '../session/audit-foreign-session.ts'
import type { SessionAccess } from '../session/session-access.ts'
import { followSession } from '../session/follow-session.ts'
import { Connection } from '../connection/connection.ts'
import { errorFrame } from '../connection/error-frame.ts'
import type { SocketDeps } from '../connection/socket-deps.ts'
import { handlers } from './handlers/index.ts'
import { startHeartbeat } from '../edge/heartbeat.ts'
import { takesFrames } from '../edge/takes-frames.ts'
import { askedSession, openSession } from './open-session.ts'
import type { FrameOutcome } from '../connection/frame-outcome.ts'
import { outcomeOf } from '../connection/frame-outcome.ts'
import { checkFrame, frameId, parseFrame } from './read-frame.ts'

type ConnectionDown = Extract<Down, { type: 'connection' }>

/** Serves one client socket until it closes. */
export async function serveSocket(
  deps: SocketDeps,
  socket: WebSocket,
  request: FastifyRequest,
  { heartbeatMs }: { heartbeatMs: number },
): Promise<void> {
  const { bus, logger, events, connections, welcome, draining } = deps
  const closed = new AbortController()
  socket.on('close', () => closed.abort())
  // A broken connection also closes, and needs no further handling.
  socket.on('error', () => undefined)
  // Frames that arrive before the session is open stay in the socket.
  socket.pause()
  const opened = await openSession(deps, request.query, request.principal).catch((error: unknown) =>
    BusError.from(error),
  )
  using _listening = opened instanceof BusError ? undefined : opened.listening
  // Checked last, since the gateway may have begun to drain.
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
  const { sessionId, access, cursor, queueAfter, isReconnect } = opened
  auditForeignSession(deps, request.principal, sessionId, 'GET /ws')
  const userAgent = request.headers['user-agent'] ?? ''
  const id = formatCursor(cursor)
  const connection = new Connection(socket, {
    sessionId,
    userAgent,
    principal: request.principal,
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
        message: isReconnect ? 'Reconnected' : welcome(request.principal),
        sessionId,
      },
    })
    socket.on('message', (data, isBinary) => {
      // The socket delivers whole frames.
      if (takesFrames(socket, draining)) takeFrame(deps, connection, access, data, isBinary)
    })
    socket.resume()
    const options = {
      envelope: newEnvelope(request.principal),
      signal: closed.signal,
      access,
      watch: { after: queueAfter, item: (item: FollowItem) => connection.queue.item(item) },
    }
    for await (const event of followSession(bus, sessionId, cursor, options)) {
      noteFirstText(events, connection, event)
      await connection.send(event)
      if (event.type === 'session') connection.close(1000, 'session deleted')
    }
  } catch (err) {
    const isRefused = BusError.from(err).code === 'not-found'
    logger.error({ ...fields, action: 'follow', err }, 'a stream broke off')
    if (isRefused) connection.close(1008, 'there is no such session')
    else connection.close(1011, 'reconnect with the last id')
  } finally {
    stopHeartbeat()
    connection.queue[Symbol.dispose]()
    connections.delete(connection)
    events.socketClosed()
    const { connectedAt, lastActiveAt } = connection
    logger.info({ ...fields, action: 'close', connectedAt, lastActiveAt }, 'socket closed')
  }
}

/** Tells a client why the session is refused. */
function refuse(socket: WebSocket, payload: ConnectionDown['payload'], code: number): void {
  socket.send(JSON.stringify({ type: 'connection', payload }))
  // The close frame of the client can only arrive at a socket that is read.
  socket.resume()
  socket.close(code, payload.message.slice(0, 120))
}

/** Hands a frame to its handler. */
function takeFrame(
  deps: SocketDeps,
  connection: Connection,
  access: SessionAccess,
  data: RawData,
  isBinary: boolean,
): void {
  connection.lastActiveAt = new Date()
  const startedAt = performance.now()
  const note = (method: string, outcome: FrameOutcome): void => {
    const seconds = (performance.now() - startedAt) / 1_000
    deps.events.requestAnswered({ entrance: 'socket', method, outcome, seconds })
  }
  let parsed: unknown
  const refuseFrame = (error: unknown): void => {
    const messageId = frameId(parsed)
    void connection.send(errorFrame(error, { sessionId: connection.sessionId, messageId }))
    // A refused frame may have any type.
    note('other', outcomeOf(error))
  }
  try {
    try {
      parsed = parseFrame(data, isBinary)
    } finally {
      // Also what is no frame counts. Frames stay in order, so the few that arrive while permits are fetched are accepted.
      deps.limits.request(connection.principal)?.catch(() => undefined)
    }
    const frame = checkFrame(parsed)
    if (deps.draining.aborted && frame.type !== 'ping') {
      throw new BusError('unavailable', MAINTENANCE)
    }
    // The table has a handler for each type, which TypeScript cannot derive for the union.
    const handle = handlers[frame.type] as (
      ...args: [SocketDeps, Connection, typeof frame]
    ) => Promise<FrameOutcome> | FrameOutcome
    const begin = (): void =>
      void Promise.resolve(handle(deps, connection, frame)).then((outcome) =>
        note(frame.type, outcome),
      )
    const checking = access.check()
    if (checking === undefined) begin()
    else checking.then(begin, refuseFrame)
  } catch (error) {
    refuseFrame(error)
  }
}

/** Measures the time from a message to the first text of its answer, at the socket that sent it. */
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

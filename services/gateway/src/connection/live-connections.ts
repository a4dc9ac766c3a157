import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@mcp-host/bus'
import type { ConnectionInfo, SessionId } from '@mcp-host/contracts'
import { connectionsFound, findConnections } from '@mcp-host/contracts'
import type { Connection } from './connection.ts'

/** The time limit for the other gateways, whose number is unknown. */
const GATHER_MS = 200
/** Limit for the reported sockets of one session and gateway. */
const MAX_TOLD = 1_000
const MAX_USER_AGENT_LENGTH = 200

export interface LiveConnectionsDeps {
  readonly bus: Pick<Bus, 'id' | 'emit' | 'listen'>
  /** Sockets of this gateway. */
  readonly connections: Iterable<
    Pick<Connection, 'clientId' | 'connectedAt' | 'lastActiveAt' | 'sessionId' | 'userAgent'>
  >
}

/** Finds the open sockets of a session at all gateways. */
export class LiveConnections implements Disposable {
  readonly #deps: LiveConnectionsDeps
  readonly #listening = new DisposableStack()
  /** Results by query. */
  readonly #found = new Map<string, ConnectionInfo[]>()

  constructor(deps: LiveConnectionsDeps) {
    this.#deps = deps
    const { bus } = deps
    this.#listening.use(
      bus.listen(findConnections, {}, ({ id, session }) => {
        const connections = this.#own(session)
        if (connections.length > 0) bus.emit(connectionsFound, {}, { id, connections })
      }),
    )
    this.#listening.use(
      bus.listen(connectionsFound, {}, ({ id, connections }) => {
        this.#found.get(id)?.push(...connections)
      }),
    )
  }

  /** The sockets of a session, oldest first. Slow gateways are left out. */
  async of(session: SessionId): Promise<ConnectionInfo[]> {
    const id = crypto.randomUUID()
    const found: ConnectionInfo[] = []
    this.#found.set(id, found)
    this.#deps.bus.emit(findConnections, {}, { id, session })
    await delay(GATHER_MS)
    this.#found.delete(id)
    return found.toSorted((one, other) => one.connectedAt - other.connectedAt)
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }

  #own(session: SessionId): ConnectionInfo[] {
    const { bus, connections } = this.#deps
    return Array.from(connections)
      .filter(({ sessionId }) => sessionId === session)
      .slice(0, MAX_TOLD)
      .map(({ clientId, connectedAt, lastActiveAt, userAgent }) => ({
        clientId,
        gateway: bus.id,
        connectedAt: connectedAt.getTime(),
        lastActiveAt: lastActiveAt.getTime(),
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
      }))
  }
}

import type { Principal } from '@mcp-host/contracts'
import type { Clients } from './clients.ts'
import type { EndpointRequest } from '../messages/endpoint-request.ts'
import type { Params } from '../messages/json-rpc.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ClientSession } from './session.ts'
import { newSession, readSession, SESSION_HEADER } from './session.ts'
import type { SignSession } from '../messages/signed-id.ts'

export interface ClientSessionsDeps {
  readonly clients: Clients
  readonly signSession: SignSession
}

type SessionRequest = Pick<EndpointRequest, 'header' | 'principal'>

const MAX_KNOWN = 1_000

/** The sessions that requests name in a header. */
export class ClientSessions {
  readonly #deps: ClientSessionsDeps
  /** Parsed ids, cached because every request carries one. */
  readonly #known = new Map<string, ClientSession>()

  constructor(deps: ClientSessionsDeps) {
    this.#deps = deps
  }

  /** A new session id for a principal, in the form that the client sends. */
  begin(capabilities: Params, principal: Principal): string {
    return newSession(capabilities, this.#signFor(principal))
  }

  /** Reads the record of a request's session. `undefined`: it is read already, or there is no session. */
  read({ header, principal }: SessionRequest): Promise<void> | undefined {
    const sessionId = header(SESSION_HEADER)?.trim()
    const session = sessionId === undefined ? undefined : this.#parse(sessionId, principal)
    return session && this.#deps.clients.read(session.id)
  }

  /**
   * The session that a request names; `undefined` when it names none. Throws `JsonRpcError` when the session is unknown
   * or over.
   */
  find({ header, principal }: SessionRequest): ClientSession | undefined {
    const sessionId = header(SESSION_HEADER)?.trim()
    if (sessionId === undefined) return undefined
    const session = this.#parse(sessionId, principal)
    const isOver = session === undefined || this.#deps.clients.record(session.id).isOver
    if (isOver !== true) return session
    const message = 'Session not found; begin another with initialize'
    throw new JsonRpcError(JsonRpcCode.timedOut, message, { status: 404 })
  }

  /** `undefined`: no gateway has issued this id. */
  #parse(sessionId: string, principal: Principal): ClientSession | undefined {
    const key = `${principal.id} ${sessionId}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const session = readSession(sessionId, this.#signFor(principal))
    if (session === undefined) return undefined
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, session)
    return session
  }

  /** Ids are signed for their principal, so they are unknown for others. The id of a chat is none of a session here. */
  #signFor({ id }: Principal): SignSession {
    return (text) => this.#deps.signSession(`mcp\n${id}\n${text}`)
  }
}

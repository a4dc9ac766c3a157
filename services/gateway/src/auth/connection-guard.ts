import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Principal } from '@mcp-host/contracts'
import type { WebSocket } from 'ws'
import type { Authenticator } from './authenticator.ts'
import type { Credential } from './credential.ts'

const CHECK_MS = 1_000
/** The time limit for the client's close frame. */
const CLOSE_LIMIT_MS = 1_000
const ENDED = 'the login or key is not valid any more; authenticate again'

type GuardAuth = Pick<Authenticator, 'isOn' | 'principalOf' | 'credentialOf'>

/** The credential and principal that opened a connection. */
export interface Admission {
  readonly credential: Credential
  readonly principal: Principal
}

interface Watched extends Admission {
  readonly end: () => void
}

/**
 * Ends sockets and streams whose credential was revoked or has expired, or whose principal has other roles. Connections
 * last for hours, and are authenticated only once.
 */
export class ConnectionGuard implements Disposable {
  readonly #auth: GuardAuth
  readonly #admitted = new WeakMap<IncomingMessage, Admission>()
  readonly #open = new Map<WebSocket | ServerResponse, Watched>()
  readonly #timer: NodeJS.Timeout

  constructor(auth: GuardAuth, checkMs = CHECK_MS) {
    this.#auth = auth
    this.#timer = setInterval(() => this.#check(), checkMs).unref()
  }

  /** Called before the upgrade of a request. */
  admit(request: IncomingMessage, admission: Admission): void {
    this.#admitted.set(request, admission)
  }

  /** Called after the upgrade. */
  watch(socket: WebSocket, request: IncomingMessage): void {
    const admission = this.#admitted.get(request)
    if (admission === undefined) {
      if (this.#auth.isOn) close(socket)
      return
    }
    this.#open.set(socket, { ...admission, end: () => close(socket) })
    socket.once('close', () => this.#open.delete(socket))
  }

  /**
   * Called right after the authentication of a request, whose body may still arrive for a while and whose response may
   * be a stream. Later its credential may be in no cache any more.
   */
  watchRequest(response: ServerResponse, request: IncomingMessage, principal: Principal): void {
    const credential = this.#auth.credentialOf(request)
    if (credential === undefined) {
      if (this.#auth.isOn) response.destroy()
      return
    }
    this.#open.set(response, { credential, principal, end: () => response.destroy() })
    response.once('close', () => this.#open.delete(response))
  }

  #check(): void {
    for (const [connection, { credential, principal, end }] of this.#open) {
      const now = this.#auth.principalOf(credential)
      if (now !== undefined && isSame(now, principal)) continue
      this.#open.delete(connection)
      end()
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

function close(socket: WebSocket): void {
  // The close frame of the client can only arrive at a socket that is read.
  socket.resume()
  socket.close(1008, ENDED)
  setTimeout(() => socket.terminate(), CLOSE_LIMIT_MS).unref()
}

function isSame(one: Principal, other: Principal): boolean {
  return one.id === other.id && one.roles.join(' ') === other.roles.join(' ')
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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

interface WatchedResponse extends Admission {
  readonly response: ServerResponse
}

/**
 * Ends sockets and streams whose credential was revoked or has expired, or whose principal has other roles. Connections
 * last for hours, and are authenticated only once.
 */
export class ConnectionGuard implements Disposable {
  readonly #auth: GuardAuth
  readonly #admitted = new WeakMap<IncomingMessage, Admission>()
  readonly #sockets = new Map<WebSocket, Admission>()
  /** By connection: a map of responses itself, most of which last for milliseconds, would burden the collector. */
  readonly #responses = new Map<Socket, readonly WatchedResponse[]>()
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
    this.#sockets.set(socket, admission)
    socket.once('close', () => this.#sockets.delete(socket))
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
    const { socket } = request
    const others = this.#responses.get(socket)
    if (others === undefined) socket.once('close', () => this.#responses.delete(socket))
    const watched = { response, credential, principal }
    this.#responses.set(socket, [...(others ?? []).filter(isOpen), watched])
  }

  #check(): void {
    for (const [socket, admission] of this.#sockets) {
      if (this.#isCurrent(admission)) continue
      this.#sockets.delete(socket)
      close(socket)
    }
    for (const [socket, responses] of this.#responses) {
      const open = responses.filter(isOpen)
      this.#responses.set(socket, open)
      for (const each of open) if (!this.#isCurrent(each)) each.response.destroy()
    }
  }

  #isCurrent({ credential, principal }: Admission): boolean {
    const now = this.#auth.principalOf(credential)
    return now !== undefined && isSame(now, principal)
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

function isOpen({ response }: WatchedResponse): boolean {
  return !response.closed
}

function isSame(one: Principal, other: Principal): boolean {
  return one.id === other.id && one.roles.join(' ') === other.roles.join(' ')
}

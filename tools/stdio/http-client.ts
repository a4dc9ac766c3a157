import type { IncomingMessage } from 'node:http'
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { Failure } from './failure.ts'
import type { Headers } from './tool-headers.ts'

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Headers
  readonly body?: Buffer | string
  /**
   * For a request that must not be executed twice: if its own connection cannot be made, the host has not received it.
   */
  readonly isOnce?: boolean
  readonly signal: AbortSignal
}

/**
 * Sends requests to one host, which may restart at another address. Answers have no time limit here, since the caller
 * has one.
 */
export class HttpClient implements Disposable {
  readonly #url: () => URL
  readonly #credential: Readonly<Record<string, string>>
  readonly #http = new HttpAgent({ keepAlive: true })
  readonly #https = new HttpsAgent({ keepAlive: true })

  /** `credential`: headers that authenticate the client. */
  constructor(url: () => URL, credential: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#credential = credential
  }

  /** Resolves with the head of the answer. Throws `Failure` when there is none. */
  async send(what: HttpRequest): Promise<IncomingMessage> {
    const { method, headers, body, isOnce = false, signal } = what
    const url = this.#url()
    const isSecure = url.protocol === 'https:'
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    let isConnected = false
    const request = (isSecure ? requestHttps : requestHttp)(url, {
      method,
      headers: {
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...this.#credential,
        ...headers,
      },
      // TLS connections are always kept, since they are expensive to open.
      agent: isSecure ? this.#https : isOnce ? false : this.#http,
      signal,
    })
    request.on('response', resolve)
    request.on('error', reject)
    request.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      else socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    request.end(body)
    try {
      return await promise
    } catch (error) {
      signal.throwIfAborted()
      if (!isConnected) throw notThere(url, codeOf(error), error)
      throw broken(codeOf(error), error)
    }
  }

  [Symbol.dispose](): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

/** Converts an error. The host may have received a request before its connection broke. */
export function broken(why: string, cause?: unknown): Failure {
  const message = `the connection to the MCP host broke (${why}): the request may or may not have been executed`
  return new Failure('unknown-outcome', message, { cause })
}

function notThere({ href }: URL, why: string, cause?: unknown): Failure {
  const message = `no MCP host answers at ${href} (${why})`
  return new Failure('unavailable', message, { cause })
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

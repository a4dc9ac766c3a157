import type { IncomingMessage } from 'node:http'
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { Failure } from './failure.ts'
import type { Headers } from './tool-headers.ts'

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Headers
  readonly body?: Buffer | string
  /** Must not be heard twice: a connection of its own that cannot be made proves that it was not heard. */
  readonly isOnce?: boolean
  readonly signal: AbortSignal
}

/**
 * Requests to one host, which may come and go and change its address. Answers may take as long as they take:
 * the caller has a limit of its own.
 */
export class HttpClient implements Disposable {
  readonly #url: () => URL
  readonly #http = new HttpAgent({ keepAlive: true })
  readonly #https = new HttpsAgent({ keepAlive: true })

  constructor(url: () => URL) {
    this.#url = url
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
        ...headers,
      },
      // Where connections are dear they are kept all the same.
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

/** A request may have been heard before its connection broke. */
export function broken(why: string, cause?: unknown): Failure {
  const message = `the connection to the MCP host broke (${why}): what was asked may or may not have happened`
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

import type { IncomingHttpHeaders } from 'node:http'
import { messagesOf, Refusal } from './answer.ts'
import type { HttpClient } from './http-client.ts'
import type { Message, RpcId } from './message.ts'
import { isObject } from './message.ts'
import { missedChanges, toldLists } from './missed-changes.ts'
import { Pauses } from './pauses.ts'
import type { Headers } from './tool-headers.ts'

export interface OlderSessionDeps {
  readonly client: HttpClient
  /** Writes one message to the client. */
  readonly write: (message: string) => Promise<void>
}

const CLOSE_LIMIT_MS = 700

/**
 * The session that a legacy client began with `initialize`. When the host has lost the session, another one is opened
 * without the client, and the requests that set its state are repeated.
 */
export class OlderSession {
  readonly #deps: OlderSessionDeps
  readonly #initialize: Message
  #initialized: Message | undefined
  /** The requests that set the state of the session: its log level and its subscriptions. */
  readonly #stateRequests = new Map<string, Message>()
  #id: string | undefined
  #version: string | undefined
  #lists: readonly string[] = []
  #ready: Promise<unknown> = Promise.resolve()
  #renewal: Promise<void> | undefined
  readonly #left = new AbortController()
  /** Aborts the stream of a session that has ended. */
  #stream = new AbortController()

  constructor(deps: OlderSessionDeps, initialize: Message) {
    this.#deps = deps
    this.#initialize = initialize
  }

  get id(): string | undefined {
    return this.#id
  }

  get headers(): Headers {
    return {
      ...(this.#id === undefined ? {} : { 'mcp-session-id': this.#id }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    }
  }

  /** Resolves when other messages may follow; never rejects. */
  get ready(): Promise<unknown> {
    return this.#ready
  }

  /** Other messages wait until the host has taken this one. */
  holdFor(passing: Promise<unknown>): void {
    this.#ready = passing.catch(() => undefined)
  }

  /** Takes the answer to `initialize`. */
  begun({ 'mcp-session-id': id }: IncomingHttpHeaders, answer: string): void {
    const content: unknown = JSON.parse(answer)
    const result = isObject(content) ? content['result'] : undefined
    if (!isObject(result)) return
    this.#id = typeof id === 'string' ? id : undefined
    this.#version = String(result['protocolVersion'])
    this.#lists = toldLists(result['capabilities'])
  }

  /**
   * Takes a message that the host has accepted. Messages that set the state of a session are repeated in the next
   * session.
   */
  taken(message: Message): void {
    const { method, params } = message
    const uri = `uri ${String(params['uri'])}`
    if (method === 'logging/setLevel') this.#stateRequests.set('level', message)
    if (method === 'resources/subscribe') this.#stateRequests.set(uri, message)
    if (method === 'resources/unsubscribe') this.#stateRequests.delete(uri)
    if (method !== 'notifications/initialized' || this.#initialized !== undefined) return
    this.#initialized = message
    void this.#listen()
  }

  /** Begins another session, unless that has happened since `staleId`. Throws the host's refusal. */
  async renew(staleId: string | undefined): Promise<void> {
    if (this.#id !== staleId) return
    this.#renewal ??= this.#begin().finally(() => {
      this.#renewal = undefined
    })
    await this.#renewal
  }

  /** Ends the session without waiting for long. `pending`: requests whose answers are not needed. */
  async end(pending: readonly RpcId[]): Promise<void> {
    this.#left.abort()
    if (this.#id === undefined) return
    const signal = AbortSignal.timeout(CLOSE_LIMIT_MS)
    const { headers } = this
    const cancels = pending.map((requestId) => {
      const params = { requestId, reason: 'the client has left' }
      const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
      return this.#send(JSON.stringify(notice), signal)
    })
    await Promise.allSettled(cancels)
    // A host that is absent or has no sessions needs no notification.
    await this.#deps.client
      .send({ method: 'DELETE', headers, signal })
      .then((answer) => answer.destroy())
      .catch(() => undefined)
  }

  async #begin(): Promise<void> {
    const { client } = this.#deps
    const { signal } = this.#left
    const { line } = this.#initialize
    const answer = await client.send({ method: 'POST', headers: {}, body: line, signal })
    for await (const text of messagesOf(answer)) this.begun(answer.headers, text)
    for (const message of [this.#initialized, ...this.#stateRequests.values()]) {
      if (message !== undefined) await this.#send(message.line, signal)
    }
    this.#stream.abort()
  }

  /** The answer is ignored: the client has it already, or does not need it. */
  async #send(body: Buffer | string, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps
    const answer = await client.send({ method: 'POST', headers: this.headers, body, signal })
    for await (const _ of messagesOf(answer));
  }

  /** Forwards messages outside of requests, as long as the client is connected. */
  async #listen(): Promise<void> {
    const { client, write } = this.#deps
    const pauses = new Pauses()
    let hasMissed = false
    while (!this.#left.signal.aborted) {
      this.#stream = new AbortController()
      const signal = AbortSignal.any([this.#left.signal, this.#stream.signal])
      const id = this.#id
      try {
        const answer = await client.send({ method: 'GET', headers: this.headers, signal })
        if (hasMissed && answer.statusCode === 200) {
          for (const text of missedChanges(this.#lists)) await write(text)
        }
        for await (const text of messagesOf(answer)) await write(text)
      } catch (error) {
        if (error instanceof Refusal && error.status === 405) return
        const isOver = error instanceof Refusal && error.status === 404 && id !== undefined
        // A failed renewal is repeated after the next attempt.
        if (isOver) await this.renew(id).catch(() => undefined)
      }
      hasMissed = true
      await pauses.next(this.#left.signal).catch(() => undefined)
    }
  }
}

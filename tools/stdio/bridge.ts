import { JsonRpcCode, MetaKey } from '@mcp-host/mcp'
import type { IncomingMessage } from 'node:http'
import { messagesOf, Refusal } from './answer.ts'
import { Failure, failureLine, NO_JSON } from './failure.ts'
import type { HttpClient } from './http-client.ts'
import { broken } from './http-client.ts'
import type { Message, RpcId } from './message.ts'
import { answeredIds, isObject, readMessage } from './message.ts'
import { missedChanges, wantedLists } from './missed-changes.ts'
import { OlderSession } from './older-session.ts'
import { Pauses } from './pauses.ts'
import { ToolHeaders } from './tool-headers.ts'

export interface BridgeDeps {
  readonly client: HttpClient
  /** Writes one message to the client. */
  readonly write: (message: string) => Promise<void>
  /** Logs a text for a person. */
  readonly log: (text: string) => void
}

export interface BridgeOptions {
  /** The time for which a message waits for an absent host. */
  readonly waitMs: number
  /** The remedy when the host cannot be reached. */
  readonly hint: string
}

/** A line of the client that is being forwarded. */
interface Exchange {
  readonly message: Message
  readonly unanswered: Set<RpcId>
  readonly leave: AbortController
  /** Whether it waits for the host, which has not received it. */
  isWaiting: boolean
  /** Whether an endless stream has been open. */
  hasHeard: boolean
}

const LISTEN = 'subscriptions/listen'
const CANCELLED = 'notifications/cancelled'
/** Limit for the repairs of the same refusal. After that the repair does not help. */
const MAX_MENDED = 2

/** Forwards messages unchanged between a client on pipes and a host on HTTP. */
export class Bridge {
  readonly #deps: BridgeDeps
  readonly #options: BridgeOptions
  readonly #exchanges = new Set<Exchange>()
  readonly #tools: ToolHeaders
  #session: OlderSession | undefined
  #isThere = true

  constructor(deps: BridgeDeps, options: BridgeOptions) {
    this.#deps = deps
    this.#options = options
    this.#tools = new ToolHeaders((method, params) => this.#ask(method, params))
  }

  /** Forwards a line of the client. Resolves when its requests are answered. */
  async forward(line: Buffer): Promise<void> {
    const message = readMessage(line)
    if (message === undefined) return this.#deps.write(NO_JSON)
    if (message.method === CANCELLED && this.#cancel(message)) return
    const exchange: Exchange = {
      message,
      unanswered: new Set(message.ids),
      leave: new AbortController(),
      isWaiting: false,
      hasHeard: false,
    }
    this.#exchanges.add(exchange)
    const passing = this.#pass(exchange)
    if (message.method === 'notifications/initialized') this.#session?.holdFor(passing)
    try {
      await passing
    } catch (error) {
      if (!exchange.leave.signal.aborted) await this.#fail(exchange, error)
    } finally {
      this.#exchanges.delete(exchange)
    }
  }

  /** Cancels requests in flight, and tells the host. */
  async close(): Promise<void> {
    const sent = Array.from(this.#exchanges).filter(({ isWaiting }) => !isWaiting)
    for (const { leave } of this.#exchanges) leave.abort()
    const older = sent.filter(({ message }) => message.version === undefined)
    await this.#session?.end(older.flatMap(({ unanswered }) => [...unanswered]))
  }

  /**
   * A modern client cancels over HTTP by closing the request. The same is enough when the host has not received the
   * request.
   */
  #cancel({ params }: Message): boolean {
    const id = params['requestId'] as RpcId
    const exchange = Array.from(this.#exchanges).find(({ unanswered }) => unanswered.has(id))
    if (exchange === undefined) return this.#session === undefined
    if (exchange.message.version === undefined && !exchange.isWaiting) return false
    exchange.leave.abort()
    return true
  }

  async #pass(exchange: Exchange): Promise<void> {
    const { message, leave } = exchange
    const isOlder = message.version === undefined && message.method !== 'initialize'
    const pauses = new Pauses()
    const giveUpAt = performance.now() + this.#options.waitMs
    for (let mended = 0; ;) {
      const session = isOlder ? this.#session : undefined
      if (message.method !== 'notifications/initialized') await session?.ready
      const id = session?.id
      try {
        await this.#send(exchange, session)
        return
      } catch (error) {
        leave.signal.throwIfAborted()
        let reason = error
        try {
          if (mended < MAX_MENDED && (await this.#mend(error, message, session, id))) {
            mended++
            continue
          }
        } catch (failure) {
          reason = failure
        }
        const isEndless = message.method === LISTEN && exchange.hasHeard
        const isLate = performance.now() > giveUpAt && !isEndless
        if (isLate || !isWorthWaiting(reason, message)) throw reason
        this.#missing(reason)
      }
      exchange.isWaiting = true
      await pauses.next(leave.signal)
      exchange.isWaiting = false
    }
  }

  async #send(exchange: Exchange, session: OlderSession | undefined): Promise<void> {
    const { message, leave } = exchange
    const headers = { ...session?.headers, ...this.#tools.of(message) }
    const { signal } = leave
    const { client, log } = this.#deps
    const { line: body, method: asked } = message
    const isOnce = asked === 'tools/call'
    const answer = await client.send({ method: 'POST', headers, body, isOnce, signal })
    if (!this.#isThere) log('the MCP host is there again')
    this.#isThere = true
    await this.#deliver(exchange, answer)
    session?.taken(message)
  }

  async #deliver(exchange: Exchange, answer: IncomingMessage): Promise<void> {
    const { message, unanswered } = exchange
    let missed = exchange.hasHeard ? missedBy(message) : []
    let isOpen = false
    for await (const text of messagesOf(answer)) {
      const answered = answeredIds(text)
      // The client does not know of the stream, which ends when the host is stopped.
      if (message.method === LISTEN && answered.length > 0 && isOpen)
        throw broken('the stream ended')
      for (const id of answered) unanswered.delete(id)
      if (message.method === 'initialize' && answered.length > 0) this.#begin(message, answer, text)
      await this.#deps.write(text)
      exchange.hasHeard = isOpen = true
      // Missed changes are written after the first message of the stream.
      for (const change of missed) await this.#deps.write(change)
      missed = []
    }
    if (unanswered.size > 0) throw broken('it ended without an answer')
  }

  #begin(message: Message, { headers }: IncomingMessage, text: string): void {
    const session = new OlderSession(this.#deps, message)
    session.begun(headers, text)
    void this.#session?.end([])
    this.#session = session
  }

  /** Whether a refused message may be sent again, because its cause was repaired. */
  async #mend(
    error: unknown,
    message: Message,
    session: OlderSession | undefined,
    sessionId: string | undefined,
  ): Promise<boolean> {
    if (!(error instanceof Refusal)) return false
    const { status, code } = error
    if (status === 404 && session !== undefined && sessionId !== undefined) {
      await session.renew(sessionId)
      return true
    }
    const isMismatch =
      status === 400 && code === JsonRpcCode.headerMismatch && message.version !== undefined
    if (!isMismatch || message.method !== 'tools/call') return false
    await this.#tools.learn(message)
    return true
  }

  /** Logs once that the host is not there. */
  #missing(reason: unknown): void {
    if (this.#isThere) this.#deps.log(reason instanceof Error ? reason.message : String(reason))
    this.#isThere = false
  }

  async #ask(method: string, params: Message['params']): Promise<unknown> {
    const request = { jsonrpc: '2.0', id: 'headers', method, params }
    const line = Buffer.from(JSON.stringify(request))
    const message = readMessage(line)
    const headers = message === undefined ? {} : this.#tools.of(message)
    const signal = AbortSignal.timeout(this.#options.waitMs)
    const answer = await this.#deps.client.send({ method: 'POST', headers, body: line, signal })
    let result: unknown
    for await (const text of messagesOf(answer)) {
      const content: unknown = JSON.parse(text)
      if (isObject(content)) ({ result } = content)
    }
    return result
  }

  async #fail({ message, unanswered }: Exchange, error: unknown): Promise<void> {
    const { write, log } = this.#deps
    // The host may have refused a request of the bridge itself.
    if (error instanceof Refusal && error.line !== undefined && unanswered.has(error.id)) {
      return write(error.line)
    }
    const shown = isHostMissing(error) ? withHint(error, this.#options.hint) : error
    if (unanswered.size === 0) {
      log(`${message.method ?? 'an answer'} was not taken: ${String(shown)}`)
    }
    for (const id of unanswered) await write(failureLine(id, shown))
  }
}

function missedBy({ method, params, ids }: Message): string[] {
  if (method !== LISTEN) return []
  return missedChanges(wantedLists(params['notifications']), {
    _meta: { [MetaKey.subscriptionId]: ids[0] },
  })
}

/** Whether the host is absent or not ready: another program answers in its place, or it reports that it is starting. */
function isHostMissing(error: unknown): error is Error {
  if (error instanceof Failure) return error.reason === 'unavailable'
  if (!(error instanceof Refusal)) return false
  return error.status === 503 || (error.status === 404 && error.line === undefined)
}

function isWorthWaiting(error: unknown, { method, ids }: Message): boolean {
  if (isHostMissing(error)) return true
  if (!(error instanceof Failure) || error.reason !== 'unknown-outcome') return false
  // Only a tool call may have an effect that must not be repeated. A batch may contain one.
  return method !== 'tools/call' && (method !== undefined || ids.length === 0)
}

function withHint({ message }: Error, hint: string): Failure {
  return new Failure('unavailable', `${message}. ${hint}`)
}

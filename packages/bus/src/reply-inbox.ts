import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { createInbox, errors } from '@nats-io/transport-node'
import type { AccountName } from '@mcp-host/contracts'
import { ACCOUNTS } from '@mcp-host/contracts'
import { inboxPrefix } from './connect.ts'

const NO_RESPONDERS = 503
/** The period of checks for timed-out requests. */
const CHECK_MS = 50

/** A caller that waits for replies. */
export interface Asker {
  /** The time limit for the first reply, and then for each next one. */
  readonly quietMs: number
  /** Takes a reply and returns whether it was the last. If it throws, the request fails with that error. */
  onAnswer(message: Msg): boolean
  /**
   * Called at most once, at the end, when the request failed: no reply in time, no listener, or a closed connection.
   */
  onFailure(error: unknown): void
  /** Called many times a second while the request waits. */
  onWaiting?(): void
}

export interface SendOptions {
  readonly headers?: MsgHdrs
  /** The account that answers. Default: `STORE`. */
  readonly responder?: AccountName
}

export interface AskOptions extends Pick<Asker, 'quietMs' | 'onAnswer'>, SendOptions {}

interface PendingRequest {
  /** The subject of the replies. It ends with the slot and a number that makes it unique. */
  readonly reply: string
  readonly slot: number
  readonly subject: string
  readonly asker: Asker
  /** The time of the request or of the last reply, by `performance.now()`. */
  activeAt: number
}

/**
 * Sends requests whose replies arrive over one subscription for each answering account. The client's own requests cost
 * more: each creates an error with its stack trace, and a subscription if it has several replies.
 */
export class ReplyInbox {
  readonly #connection: NatsConnection
  /** Subject prefixes by the account that answers. */
  readonly #prefixes: Readonly<Record<AccountName, string>>
  /** Reusable slots instead of a `Map`, whose tables would keep ended requests in memory (decision 0030). */
  readonly #slots: (PendingRequest | undefined)[] = []
  readonly #free: number[] = []
  #count = 0

  /** `id`: the id of the process on the bus. */
  constructor(connection: NatsConnection, id: string) {
    this.#connection = connection
    const prefixes = Object.values(ACCOUNTS).map((account) => {
      const prefix = `${createInbox(inboxPrefix(id, account))}.`
      connection.subscribe(`${prefix}*`, {
        callback: (error, message) => (error === null ? this.#take(message) : this.#failAll(error)),
      })
      return [account, prefix]
    })
    this.#prefixes = Object.fromEntries(prefixes) as Record<AccountName, string>
    // One timer for all requests, since a timer for each would be a large part of a request's cost.
    const checks = setInterval(() => this.#checkTimeouts(), CHECK_MS).unref()
    void connection.closed().then(() => {
      clearInterval(checks)
      this.#failAll(new errors.ClosedConnectionError())
    })
  }

  /** Sends a request with a single reply. Rejects like `ask`. */
  async request(
    subject: string,
    data: Uint8Array,
    { timeoutMs, ...options }: SendOptions & { readonly timeoutMs: number },
  ): Promise<Msg> {
    const answers: Msg[] = []
    await this.ask(subject, data, {
      ...options,
      quietMs: timeoutMs,
      onAnswer: (message) => answers.push(message) === 1,
    })
    return answers[0] as Msg
  }

  /**
   * Rejects when no reply arrives in time, when there is no listener, when the connection is closed, and with errors of
   * `onAnswer`.
   */
  ask(
    subject: string,
    data: Uint8Array,
    { quietMs, onAnswer, ...options }: AskOptions,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const asker = {
        quietMs,
        onAnswer(message: Msg): boolean {
          const isLast = onAnswer(message)
          if (isLast) resolve()
          return isLast
        },
        onFailure: reject,
      }
      this.begin(subject, data, asker, options)
    })
  }

  /** Like `ask`, without a promise. Throws when the request cannot be sent. */
  begin(
    subject: string,
    data: Uint8Array,
    asker: Asker,
    { headers, responder = 'STORE' }: SendOptions = {},
  ): void {
    const slot = this.#free.pop() ?? this.#slots.length
    const reply = `${this.#prefixes[responder]}${slot}-${this.#count++}`
    const request = { reply, slot, subject, asker, activeAt: performance.now() }
    this.#slots[slot] = request
    try {
      this.#connection.publish(subject, data, headers ? { reply, headers } : { reply })
    } catch (error) {
      this.#end(request)
      throw error
    }
  }

  #end({ slot }: PendingRequest): void {
    this.#slots[slot] = undefined
    this.#free.push(slot)
  }

  #fail(request: PendingRequest, error: unknown): void {
    this.#end(request)
    request.asker.onFailure(error)
  }

  #failAll(error: Error): void {
    for (const request of this.#slots.slice()) {
      if (request !== undefined) this.#fail(request, error)
    }
  }

  #checkTimeouts(): void {
    const now = performance.now()
    for (const request of this.#slots) {
      if (request === undefined) continue
      const { asker, activeAt } = request
      if (now - activeAt >= asker.quietMs) this.#fail(request, new errors.TimeoutError())
      else asker.onWaiting?.()
    }
  }

  #take(message: Msg): void {
    const { subject } = message
    const slot = Number.parseInt(subject.slice(subject.lastIndexOf('.') + 1), 10)
    const request = this.#slots[slot]
    // The slot may have been reused, or another account may have sent this reply.
    if (request?.reply !== subject) return
    try {
      if (message.headers?.code === NO_RESPONDERS) {
        throw new errors.NoRespondersError(request.subject)
      }
      if (request.asker.onAnswer(message)) this.#end(request)
      else request.activeAt = performance.now()
    } catch (error) {
      this.#fail(request, error)
    }
  }
}

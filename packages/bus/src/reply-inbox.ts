import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { createInbox, errors } from '@nats-io/transport-node'

const NO_RESPONDERS = 503
/** The period of checks for timed-out requests. */
const LOOK_MS = 50

/** A caller that waits for replies. */
export interface Asker {
  /** The time limit for the first reply, and then for each next one. */
  readonly quietMs: number
  /** Takes a reply and returns whether it was the last. An error that it throws is its failure. */
  onAnswer(message: Msg): boolean
  /**
   * The request failed: no reply in time, no listener, or the connection is closed. Called at most once, at the end.
   */
  onFailure(error: unknown): void
  /** Told again and again while it waits. */
  onWaiting?(): void
}

export interface AskOptions extends Pick<Asker, 'quietMs' | 'onAnswer'> {
  readonly headers?: MsgHdrs
}

interface Question {
  /** Its slot, and a number that makes it unique. */
  readonly token: string
  readonly slot: number
  readonly subject: string
  readonly asker: Asker
  /** By `performance.now()`: when it was asked, or the last answer came. */
  heardAt: number
}

/**
 * Questions whose answers all come to one subscription. The client's own are dearer: it makes an error with
 * its stack for each that is answered, and subscribes anew for each that has several answers.
 */
export class ReplyInbox {
  readonly #connection: NatsConnection
  readonly #prefix: string
  /**
   * In slots, that are used again. Not in a `Map`: one whose entries come and go all the time moves to a new table
   * again and again, and a table that the collector finds in the old generation keeps all that come after it.
   */
  readonly #questions: (Question | undefined)[] = []
  readonly #free: number[] = []
  #count = 0

  /** `prefix`: of the subjects this connection may listen to for answers. */
  constructor(connection: NatsConnection, prefix: string) {
    this.#connection = connection
    this.#prefix = `${createInbox(prefix)}.`
    connection.subscribe(`${this.#prefix}*`, {
      callback: (error, message) => (error === null ? this.#take(message) : this.#failAll(error)),
    })
    // One for all: a timer for each would be a good part of what a question costs.
    const looking = setInterval(() => this.#look(), LOOK_MS).unref()
    void connection.closed().then(() => {
      clearInterval(looking)
      this.#failAll(new errors.ClosedConnectionError())
    })
  }

  /** The one answer. Rejects as `ask` does. */
  async request(
    subject: string,
    data: Uint8Array,
    { timeoutMs, headers }: { readonly timeoutMs: number; readonly headers: MsgHdrs },
  ): Promise<Msg> {
    const answers: Msg[] = []
    await this.ask(subject, data, {
      quietMs: timeoutMs,
      headers,
      onAnswer: (message) => answers.push(message) === 1,
    })
    return answers[0] as Msg
  }

  /**
   * Rejects without a reply in time, without a listener, when the connection is closed, and with errors of `onAnswer`.
   */
  ask(
    subject: string,
    data: Uint8Array,
    { quietMs, headers, onAnswer }: AskOptions,
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
      this.begin(subject, data, asker, headers)
    })
  }

  /** As `ask`, without a promise. Throws when it cannot be sent. */
  begin(subject: string, data: Uint8Array, asker: Asker, headers?: MsgHdrs): void {
    const slot = this.#free.pop() ?? this.#questions.length
    const token = `${slot}-${this.#count++}`
    const question = { token, slot, subject, asker, heardAt: performance.now() }
    this.#questions[slot] = question
    const reply = this.#prefix + token
    try {
      this.#connection.publish(subject, data, headers ? { reply, headers } : { reply })
    } catch (error) {
      this.#end(question)
      throw error
    }
  }

  #end({ slot }: Question): void {
    this.#questions[slot] = undefined
    this.#free.push(slot)
  }

  #fail(question: Question, error: unknown): void {
    this.#end(question)
    question.asker.onFailure(error)
  }

  #failAll(error: Error): void {
    for (const question of this.#questions.slice()) {
      if (question !== undefined) this.#fail(question, error)
    }
  }

  #look(): void {
    const now = performance.now()
    for (const question of this.#questions) {
      if (question === undefined) continue
      const { asker, heardAt } = question
      if (now - heardAt >= asker.quietMs) this.#fail(question, new errors.TimeoutError())
      else asker.onWaiting?.()
    }
  }

  #take(message: Msg): void {
    const token = message.subject.slice(this.#prefix.length)
    const question = this.#questions[Number.parseInt(token, 10)]
    // The slot may have been reused.
    if (question?.token !== token) return
    try {
      if (message.headers?.code === NO_RESPONDERS) {
        throw new errors.NoRespondersError(question.subject)
      }
      if (question.asker.onAnswer(message)) this.#end(question)
      else question.heardAt = performance.now()
    } catch (error) {
      this.#fail(question, error)
    }
  }
}

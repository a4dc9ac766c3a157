import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { createInbox, errors } from '@nats-io/transport-node'

const NO_RESPONDERS = 503

export interface AskOptions {
  /** How long to wait for the first answer, and after each for the next. */
  readonly quietMs: number
  readonly headers?: MsgHdrs
  /** Takes an answer; whether it was the last. */
  readonly onAnswer: (message: Msg) => boolean
}

interface Question extends Pick<AskOptions, 'onAnswer'> {
  /** Its slot, and a number that makes it unique. */
  readonly token: string
  isOver: boolean
  readonly subject: string
  readonly quiet: NodeJS.Timeout
  readonly settle: PromiseWithResolvers<void>
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
      callback: (error, message) => (error === null ? this.#take(message) : this.#fail(error)),
    })
    void connection.closed().then(() => this.#fail(new errors.ClosedConnectionError()))
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
   * Rejects when nothing came for too long, when nobody listens, when the connection is closed, and with
   * what `onAnswer` throws.
   */
  async ask(
    subject: string,
    data: Uint8Array,
    { quietMs, headers, onAnswer }: AskOptions,
  ): Promise<void> {
    const settle = Promise.withResolvers<void>()
    const quiet = setTimeout(() => settle.reject(new errors.TimeoutError()), quietMs)
    const slot = this.#free.pop() ?? this.#questions.length
    const token = `${slot}-${this.#count++}`
    this.#questions[slot] = { token, isOver: false, subject, onAnswer, quiet, settle }
    try {
      const reply = this.#prefix + token
      this.#connection.publish(
        subject,
        data,
        headers === undefined ? { reply } : { reply, headers },
      )
      await settle.promise
    } finally {
      clearTimeout(quiet)
      this.#questions[slot] = undefined
      this.#free.push(slot)
    }
  }

  #fail(error: Error): void {
    for (const { settle } of this.#questions.filter((each) => each !== undefined)) {
      settle.reject(error)
    }
  }

  #take(message: Msg): void {
    const token = message.subject.slice(this.#prefix.length)
    const question = this.#questions[Number.parseInt(token, 10)]
    // The slot may be another's by now.
    if (question?.token !== token || question.isOver) return
    const { subject, onAnswer, quiet, settle } = question
    try {
      if (message.headers?.code === NO_RESPONDERS) throw new errors.NoRespondersError(subject)
      if (!onAnswer(message)) return void quiet.refresh()
      settle.resolve()
    } catch (error) {
      settle.reject(error)
    }
    // More may have come with it.
    question.isOver = true
  }
}

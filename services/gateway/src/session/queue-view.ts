import type { LogEntry, TurnEvent } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { cancelledBy, isRepeated } from '@mcp-host/session-state'
import { rateLimited } from '../standard-messages.ts'

/** Limit for waiting messages of one session. An orchestrator holds each of them until its turn. */
const MAX_WAITING = 500

/**
 * The running turn of a session, and the messages that wait for theirs. It takes the log's entries in order, at least
 * from the message of the newest turn on. Repeated entries change nothing.
 */
export class QueueView {
  #seq = 0
  /** Log sequences of all messages, by their ids. */
  readonly #seqs = new Map<string, number>()
  /** Ids of the messages whose turn is not over, by their log sequences, in order. */
  readonly #unfinished = new Map<number, string>()
  readonly #cancelled = new Set<number>()
  /** The message whose turn runs. */
  #running: number | undefined
  #last: string | undefined
  #isDeleted = false

  /** Accepted messages whose turn has not begun, the next one first. */
  get waiting(): string[] {
    return Array.from(this.#unfinished)
      .filter(([seq]) => seq !== this.#running && !this.#cancelled.has(seq))
      .map(([, id]) => id)
  }

  /** Throws `exhausted` when no more messages may wait. */
  checkRoom(): void {
    if (this.waiting.length < MAX_WAITING) return
    const reason = `${MAX_WAITING} messages of this session wait for their turns; send more when some are answered`
    throw new BusError('exhausted', rateLimited(reason))
  }

  /** The message whose turn runs, or is the next to run. */
  get current(): string | undefined {
    const running = this.#running === undefined ? undefined : this.#unfinished.get(this.#running)
    return running ?? this.waiting[0]
  }

  /** The message whose turn ended last. */
  get last(): string | undefined {
    return this.#last
  }

  get isDeleted(): boolean {
    return this.#isDeleted
  }

  /** The state of a message's turn; `undefined` when the view has not seen the message. */
  stateOf(messageId: string): 'unfinished' | 'over' | undefined {
    const seq = this.#seqs.get(messageId)
    if (seq === undefined) return undefined
    return this.#unfinished.has(seq) ? 'unfinished' : 'over'
  }

  entry(entry: LogEntry): void {
    const { seq, kind, fact } = entry
    if (seq <= this.#seq) return
    this.#seq = seq
    const queue = { messageIds: this.#seqs, unfinished: this.#unfinished }
    if (kind === 'input' && isRepeated(queue, fact.id)) return
    for (const each of cancelledBy(queue, entry)) this.#cancelled.add(each)
    if (kind === 'input') this.#add(fact.id, seq)
    else if (kind === 'turn') this.#turn(fact)
    else if (kind === 'control' && fact.type === 'session-deleted') this.#isDeleted = true
  }

  #turn(fact: TurnEvent): void {
    if (fact.type === 'turn-claimed') {
      // Turns begin in the order of their messages, so earlier messages will not have one.
      for (const seq of this.#unfinished.keys()) if (seq < fact.turn) this.#remove(seq)
      this.#add(fact.messageId, fact.turn)
      this.#cancelled.delete(fact.turn)
      this.#running = fact.turn
    } else if (fact.type === 'turn-done') {
      this.#last = this.#unfinished.get(fact.turn) ?? this.#last
      this.#remove(fact.turn)
    }
  }

  #add(id: string, seq: number): void {
    this.#seqs.set(id, seq)
    this.#unfinished.set(seq, id)
  }

  #remove(seq: number): void {
    this.#unfinished.delete(seq)
    this.#cancelled.delete(seq)
  }
}

import type { ControlFact, LogEntry, TurnEvent } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { rateLimited } from '../standard-messages.ts'

/** So many messages of one session may wait. Each of them is held by an orchestrator until its turn. */
const MAX_WAITING = 500

interface Unfinished {
  readonly seq: number
  hasBegun: boolean
  isCancelled: boolean
}

/**
 * Which turn of a session runs and which messages wait for theirs. It is to be given the log's entries in
 * order, at least from the newest turn's message on; those it has had change nothing.
 */
export class QueueView {
  #seq = 0
  /** Log sequences of all messages, by their ids. */
  readonly #seqs = new Map<string, number>()
  /** Messages whose turn is not over, by their ids, in order. */
  readonly #unfinished = new Map<string, Unfinished>()
  #last: string | undefined
  #isDeleted = false

  /** Accepted messages whose turn has not begun, the next one first. */
  get waiting(): string[] {
    return Array.from(this.#unfinished)
      .filter(([, { hasBegun, isCancelled }]) => !hasBegun && !isCancelled)
      .map(([id]) => id)
  }

  /** Throws `exhausted` when no more messages may wait. */
  checkRoom(): void {
    if (this.waiting.length < MAX_WAITING) return
    const reason = `${MAX_WAITING} messages of this session wait for their turns; send more when some are answered`
    throw new BusError('exhausted', rateLimited(reason))
  }

  /** The message whose turn runs, or is the next to run. */
  get current(): string | undefined {
    const running = Array.from(this.#unfinished).find(([, { hasBegun }]) => hasBegun)
    return running?.[0] ?? this.waiting[0]
  }

  /** The message whose turn ended last. */
  get last(): string | undefined {
    return this.#last
  }

  get isDeleted(): boolean {
    return this.#isDeleted
  }

  /** The state of a message's turn; `undefined`: no such message since the view began. */
  stateOf(messageId: string): 'unfinished' | 'over' | undefined {
    if (this.#unfinished.has(messageId)) return 'unfinished'
    return this.#seqs.has(messageId) ? 'over' : undefined
  }

  entry({ seq, kind, fact }: LogEntry): void {
    if (seq <= this.#seq) return
    this.#seq = seq
    if (kind === 'input') {
      if (this.#seqs.has(fact.id)) return
      if (fact.replaces !== undefined) this.#cancelFrom(fact.replaces)
      this.#begin(fact.id, { seq, hasBegun: false, isCancelled: false })
    } else if (kind === 'control') this.#control(fact)
    else if (kind === 'turn') this.#turn(fact)
  }

  #control(fact: ControlFact): void {
    if (fact.type === 'cancel-requested') {
      // Without an id the first one is meant, as in the orchestrator.
      const [first] = this.#unfinished.keys()
      this.#cancel(fact.messageId ?? first)
    } else if (fact.type === 'session-deleted') {
      this.#isDeleted = true
      for (const each of this.#unfinished.values()) each.isCancelled = true
    }
  }

  #turn(fact: TurnEvent): void {
    if (fact.type === 'turn-claimed') {
      // Turns begin in the order of their messages: one before it will not have any.
      for (const [id, { seq }] of this.#unfinished) if (seq < fact.turn) this.#unfinished.delete(id)
      this.#begin(fact.messageId, { seq: fact.turn, hasBegun: true, isCancelled: false })
    } else if (fact.type === 'turn-done') {
      for (const [id, { seq }] of this.#unfinished) {
        if (seq !== fact.turn) continue
        this.#unfinished.delete(id)
        this.#last = id
      }
    }
  }

  #begin(id: string, message: Unfinished): void {
    this.#seqs.set(id, message.seq)
    this.#unfinished.set(id, message)
  }

  /** Also cancels later messages; an unknown id is older than all queued ones. */
  #cancelFrom(replaced: string): void {
    const from = this.#seqs.get(replaced) ?? 0
    for (const each of this.#unfinished.values()) if (each.seq >= from) each.isCancelled = true
  }

  #cancel(id: string | undefined): void {
    const message = id === undefined ? undefined : this.#unfinished.get(id)
    if (message !== undefined) message.isCancelled = true
  }
}

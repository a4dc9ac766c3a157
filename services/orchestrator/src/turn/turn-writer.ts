import type { SessionLog } from '@mcp-host/bus'
import type { Envelope, SessionId, TurnEvent } from '@mcp-host/contracts'
import { childEnvelope } from '@mcp-host/contracts'
import type { SessionView } from './session-view.ts'

type WithoutBase<T> = T extends unknown ? Omit<T, 'turn' | 'seen'> : never

/** A turn event without the fields that the writer adds. */
export type TurnFact = WithoutBase<TurnEvent>

/**
 * Writes the events of one turn. Each append is fenced by the previous event, and the first one by `fence`. Once
 * another process has written, every append fails with `conflict`.
 */
export class TurnWriter {
  readonly #log: SessionLog
  readonly #view: SessionView
  readonly #session: SessionId
  readonly #turn: number
  readonly #envelope: Envelope
  /** Last sequence on the turn subject that this writer knows of: its own, once it has written. */
  #fence: number
  #queue: Promise<unknown> = Promise.resolve()

  constructor(
    log: SessionLog,
    view: SessionView,
    about: { session: SessionId; turn: number; fence: number; envelope: Envelope },
  ) {
    this.#log = log
    this.#view = view
    this.#session = about.session
    this.#turn = about.turn
    this.#envelope = about.envelope
    this.#fence = about.fence
  }

  /** Resolves when all written events are folded into the state. */
  async folded(): Promise<void> {
    await this.#view.reach(this.#fence)
  }

  /** Appends an event after all earlier ones. Resolves when the broker has stored it. */
  async append(fact: TurnFact): Promise<void> {
    const mine = this.#queue.then(async () => {
      await this.folded()
      const { seq: seen } = this.#view.state
      const event: TurnEvent = { ...fact, turn: this.#turn, seen }
      const { seq } = await this.#log.append(
        this.#session,
        { kind: 'turn', fact: event },
        {
          envelope: childEnvelope(this.#envelope),
          // The id is never shared: otherwise a lost race would look like a success.
          messageId: crypto.randomUUID(),
          // Not the newest sequence in the state, which includes events of other processes.
          fence: this.#fence,
        },
      )
      this.#fence = seq
    })
    this.#queue = mine.catch(() => undefined)
    return mine
  }
}

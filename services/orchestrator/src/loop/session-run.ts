import type { LogEntry, SessionId } from '@mcp-host/contracts'
import type { Turn } from '@mcp-host/session-state'
import { BusError, orchestratorControl } from '@mcp-host/contracts'
import { nextInput } from '@mcp-host/session-state'
import { requestFields } from '@mcp-host/service'
import { isOpen } from './decide.ts'
import { probe } from '../turn/probe.ts'
import type { TurnEnd } from './run-turn.ts'
import { runTurn } from './run-turn.ts'
import type { SessionView } from '../turn/session-view.ts'
import type { UsedView } from '../turn/session-views.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { TurnWriter } from '../turn/turn-writer.ts'

/** The delay before a session of another orchestrator is checked again. */
const ELSEWHERE_MS = 1_000
/** An input of this age has waited for an orchestrator, or for the previous turn. */
export const WAITED_MS = 250
/** The period of checks while the user is asked. An answer wakes the session at once. */
const WAITING_MS = 30_000

const NO_SLOT: AsyncDisposable = { [Symbol.asyncDispose]: async () => undefined }

/** The outcome for an entry: done, or the delay before it is checked again. */
export type Verdict = 'done' | { readonly retryMs: number }

/** Runs the turns of one session's user messages in order, until this process has none left to run. */
export class SessionRun {
  readonly #deps: TurnDeps
  readonly #session: SessionId
  /** The sequence up to which the log was read at the opening. */
  readonly #through: number
  readonly #leaving: AbortSignal
  readonly #used: Promise<UsedView>
  readonly #end: Promise<void>
  #hasEnded = false
  /** The sequence up to which this run had read the log when it last looked for work. */
  #seen = 0
  /** The delay before inputs are checked again that this run left unfinished. */
  #retryMs = ELSEWHERE_MS

  constructor(deps: TurnDeps, first: LogEntry, leaving: AbortSignal) {
    this.#deps = deps
    this.#session = first.session
    this.#through = first.seq
    this.#leaving = leaving
    this.#used = openView(deps, first)
    this.#end = this.#run()
    // Callers that await the outcome get the failure. Its cause was logged where it arose.
    this.#end.catch(() => undefined)
  }

  /** Resolves at the end of the run, even after a failure. */
  async ended(): Promise<void> {
    await this.#end.catch(() => undefined)
  }

  /**
   * Waits until an entry is done, or the run is over. `undefined`: the entry was stored too late for this run, and
   * needs another.
   */
  async verdict(entry: LogEntry): Promise<Verdict | undefined> {
    const { view } = await this.#used
    for (;;) {
      if (view.misses(entry)) return undefined
      if (entry.kind === 'input' && isAnswered(view, entry.seq)) return 'done'
      if (this.#hasEnded) {
        await this.#end
        // Entries up to the opening that are missing were purged.
        if (view.state.seq < entry.seq && entry.seq <= this.#through) return 'done'
        if (this.#seen < entry.seq) return undefined
        // This run has read the control fact, so the orchestrator that runs the turn knows it.
        return entry.kind === 'input' ? { retryMs: this.#retryMs } : 'done'
      }
      // The end of the run also wakes this. A race between two promises would leak a listener each time.
      await view.change(Infinity)
    }
  }

  async #run(): Promise<void> {
    using used = await this.#used
    try {
      await this.#takeTurns(used.view)
    } finally {
      this.#hasEnded = true
      used.view.wake()
    }
  }

  async #takeTurns(view: SessionView): Promise<void> {
    for (;;) {
      if (this.#leaving.aborted) {
        this.#retryMs = 0
        return
      }
      this.#seen = view.state.seq
      const input = nextInput(view.state)
      if (input === undefined) return
      const turn = view.state.turns.get(input)
      const { fence } = view.state
      // Before all waits: clients look for a chat as soon as its message is accepted.
      if (turn === undefined) this.#deps.note(this.#session, view.state)
      if (turn !== undefined && (await this.#isElsewhere(view, turn))) return
      // The turn may have gone on or ended during this check.
      if (view.state.fence !== fence) continue
      await using slot = await this.#slotFor(view, input)
      if (slot === undefined) return
      try {
        const end = await this.#runTurn(view, input, fence)
        if (end.state === 'left') {
          this.#retryMs = 0
          return
        }
        if (end.state === 'waiting' && end.until > 0) {
          this.#retryMs = Math.min(WAITING_MS, Math.max(0, end.until - this.#deps.bus.clock.now()))
          return
        }
        await view.keepSnapshot().catch((err: unknown) => {
          const fields = { component: 'turn', action: 'snapshot', sessionId: this.#session, err }
          this.#deps.logger.warn(fields, 'no snapshot: the log is read instead')
        })
      } catch (err) {
        if (BusError.from(err).code !== 'conflict') throw err
        // Another process has written, so the log is read first.
        if (!(await view.passes(fence))) throw err
      }
    }
  }

  /** A slot for a turn; `undefined` when all slots of its principal are in use, and the message waits. */
  async #slotFor(view: SessionView, input: number): Promise<AsyncDisposable | undefined> {
    const message = view.state.inputs.get(input)
    const principal = message?.envelope.principal ?? ''
    // The end of a cancelled turn takes no time, so it needs no slot.
    if (message?.cancelledAt !== undefined) return NO_SLOT
    const begun = view.state.turns.get(input)?.orchestrator
    const slot = await this.#deps.slots.acquire(principal, begun)
    // A turn that has begun goes on without a slot.
    if (slot === undefined && begun !== undefined) return NO_SLOT
    if (slot === undefined) this.#retryMs = ELSEWHERE_MS
    return slot
  }

  async #runTurn(view: SessionView, input: number, fence: number): Promise<TurnEnd> {
    const { bus, logger } = this.#deps
    const message = view.state.inputs.get(input)
    if (message === undefined) throw new BusError('internal', `there is no message ${input}`)
    const { id: messageId, envelope } = message
    const about = { session: this.#session, turn: input, fence, envelope }
    const cancel = new AbortController()
    const over = new AbortController()
    const noteCancel = (): void => {
      if (view.state.inputs.get(input)?.cancelledAt !== undefined) cancel.abort()
    }
    noteCancel()
    using _watch = view.onEntry(noteCancel)
    const turn: ClaimedTurn = {
      session: this.#session,
      input,
      messageId,
      epoch: (view.state.turns.get(input)?.epoch ?? 0) + 1,
      view,
      writer: new TurnWriter(bus.sessions, view, about),
      envelope,
      cancelled: cancel.signal,
      leaving: this.#leaving,
      over: over.signal,
    }
    try {
      return await runTurn(this.#deps, turn)
    } catch (err) {
      const fields = { component: 'turn', action: 'leave', sessionId: this.#session, turn: input }
      logger.warn({ ...requestFields(envelope), ...fields, err }, 'left a turn')
      throw err
    } finally {
      over.abort()
    }
  }

  /** Whether another orchestrator has the turn, or it waits for its user. */
  async #isElsewhere({ state }: SessionView, turn: Turn): Promise<boolean> {
    const { bus } = this.#deps
    const { orchestrator, waiting, input } = turn
    if (waiting?.for === 'owner') return false
    if (waiting?.for === 'approval') {
      if (state.inputs.get(input)?.cancelledAt !== undefined) return false
      const isHeard = turn.generations.some(({ calls }) =>
        calls
          .values()
          .some((call) => isOpen(call) && (call.approval?.end ?? call.cancelledAt) !== undefined),
      )
      const leftMs = waiting.until - bus.clock.now()
      if (isHeard || leftMs <= 0) return false
      this.#retryMs = Math.min(WAITING_MS, leftMs)
      return true
    }
    if (orchestrator === bus.id) return false
    const envelope = state.inputs.get(input)?.envelope
    if (envelope === undefined) return false
    const params = { orchestrator }
    const answer = await probe(
      bus,
      orchestratorControl,
      params,
      { session: this.#session },
      envelope,
    )
    return answer?.running === true
  }
}

function isAnswered({ state }: SessionView, input: number): boolean {
  if (state.seq < input) return false
  // A repeated message has no turn of its own.
  return !state.unfinished.has(input)
}

/**
 * Opens the view of a session. For an entry that waited, the view includes all later entries: the message may have been
 * cancelled, or the session deleted.
 */
async function openView(
  { bus, views }: TurnDeps,
  { session, seq, time }: LogEntry,
): Promise<UsedView> {
  const hasWaited = bus.clock.now() - time > WAITED_MS
  return views.use(
    session,
    hasWaited ? Math.max(seq, await bus.sessions.lastSequence(session)) : seq,
  )
}

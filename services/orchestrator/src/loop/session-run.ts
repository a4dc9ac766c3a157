import type { LogEntry, SessionId, Turn } from '@mcp-host/contracts'
import { BusError, nextInput, orchestratorControl } from '@mcp-host/contracts'
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
/** An older input waited for an orchestrator, or for the turn before it. */
export const WAITED_MS = 250
/** The period of checks while the user is asked; an answer wakes the session at once. */
const WAITING_MS = 30_000

/** The outcome for an entry: done, or the delay before it is checked again. */
export type Verdict = 'done' | { readonly retryMs: number }

/** Takes one session's user messages in order, one turn at a time, until none is left to be run here. */
export class SessionRun {
  readonly #deps: TurnDeps
  readonly #session: SessionId
  /** The log was opened with all that is stored up to here. */
  readonly #through: number
  readonly #leaving: AbortSignal
  readonly #used: Promise<UsedView>
  readonly #end: Promise<void>
  #hasEnded = false
  /** All up to here was known when this run last decided whether there is something to do. */
  #seen = 0
  /** When to look again at what this run did not bring to its end. */
  #retryMs = ELSEWHERE_MS

  constructor(deps: TurnDeps, first: LogEntry, leaving: AbortSignal) {
    this.#deps = deps
    this.#session = first.session
    this.#through = first.seq
    this.#leaving = leaving
    this.#used = openView(deps, first)
    this.#end = this.#run()
    // Callers that wait for the outcome get the failure; without any, it was logged where it arose.
    this.#end.catch(() => undefined)
  }

  /** Resolves when the run is over, however it ended. */
  async ended(): Promise<void> {
    await this.#end.catch(() => undefined)
  }

  /**
   * Waits until an entry is done, or the run is over. `undefined`: it was stored too late for this run, and needs
   * another.
   */
  async verdict(entry: LogEntry): Promise<Verdict | undefined> {
    const { view } = await this.#used
    for (;;) {
      if (view.misses(entry)) return undefined
      if (entry.kind === 'input' && isAnswered(view, entry.seq)) return 'done'
      if (this.#hasEnded) {
        await this.#end
        // Entries that are missing after the opening were purged.
        if (view.state.seq < entry.seq && entry.seq <= this.#through) return 'done'
        if (this.#seen < entry.seq) return undefined
        // Control facts of users have been read: the orchestrator that runs the turn knows them.
        return entry.kind === 'input' ? { retryMs: this.#retryMs } : 'done'
      }
      // Also wakes at the end of the run; a race with that would leave something behind each time.
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
      if (turn !== undefined && (await this.#isElsewhere(view, turn))) return
      // While that was asked the turn may have gone on, or ended.
      if (view.state.fence !== fence) continue
      try {
        const end = await this.#runTurn(view, input, fence)
        if (end.state === 'left') {
          this.#retryMs = 0
          return
        }
        if (end.state === 'waiting' && end.until > 0) {
          this.#retryMs = Math.min(WAITING_MS, Math.max(0, end.until - Date.now()))
          return
        }
        await view.keepSnapshot().catch((err: unknown) => {
          const fields = { component: 'turn', action: 'snapshot', sessionId: this.#session, err }
          this.#deps.logger.warn(fields, 'no snapshot: the log is read instead')
        })
      } catch (err) {
        if (BusError.from(err).code !== 'conflict') throw err
        // Another process has written: read that first.
        if (!(await view.passes(fence))) throw err
      }
    }
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
        calls.values().some((call) => isOpen(call) && call.approval?.end !== undefined),
      )
      if (isHeard || Date.now() >= waiting.until) return false
      this.#retryMs = Math.min(WAITING_MS, waiting.until - Date.now())
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
  // A message that was sent twice has no turn of its own.
  return !state.unfinished.has(input)
}

/** With all that was said after an entry that waited, too: it may have been cancelled, or its session deleted. */
async function openView(
  { bus, views }: TurnDeps,
  { session, seq, time }: LogEntry,
): Promise<UsedView> {
  const hasWaited = Date.now() - time > WAITED_MS
  return views.use(
    session,
    hasWaited ? Math.max(seq, await bus.sessions.lastSequence(session)) : seq,
  )
}

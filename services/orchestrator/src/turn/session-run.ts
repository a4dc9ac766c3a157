import type { LogEntry, SessionId, Turn } from '@mcp-host/contracts'
import { BusError, nextInput, orchestratorControl } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { probe } from './probe.ts'
import { runTurn } from './run-turn.ts'
import { SessionView } from './session-view.ts'
import type { TurnDeps } from './turn.ts'
import { TurnWriter } from './turn-writer.ts'

/** Takes one session's user messages in order, one turn at a time, until none is left. */
export class SessionRun {
  readonly #deps: TurnDeps
  readonly #session: SessionId
  readonly #stop = new AbortController()
  readonly #view: Promise<SessionView>
  readonly #end: Promise<void>
  #hasEnded = false

  constructor(deps: TurnDeps, first: LogEntry) {
    this.#deps = deps
    this.#session = first.session
    this.#view = SessionView.open(deps.bus.sessions, first.session, this.#stop.signal)
    this.#end = this.#run().finally(() => {
      this.#hasEnded = true
      this.#stop.abort()
    })
    // Whoever waits in answered() gets the failure; without waiters it was logged where it arose.
    this.#end.catch(() => undefined)
  }

  /** Resolves when the run is over, however it ended. */
  async ended(): Promise<void> {
    await this.#end.catch(() => undefined)
  }

  /** Waits until a message is answered. `false`: the run ended without, somebody else has the turn. */
  async answered(input: number): Promise<boolean> {
    const view = await this.#view
    for (;;) {
      if (isAnswered(view, input)) return true
      if (this.#hasEnded) {
        await this.#end
        return false
      }
      await Promise.race([view.change(1_000), this.#end])
    }
  }

  async #run(): Promise<void> {
    const { bus, logger } = this.#deps
    const view = await this.#view
    for (;;) {
      const input = nextInput(view.state)
      const message = input === undefined ? undefined : view.state.inputs.get(input)
      if (input === undefined || message === undefined) return
      const { envelope } = message
      const turn = view.state.turns.get(input)
      if (turn !== undefined && (await this.#isElsewhere(turn, envelope))) return
      const about = { session: this.#session, turn: input, envelope }
      const writer = new TurnWriter(bus.sessions, view, about)
      const epoch = (turn?.epoch ?? 0) + 1
      const { fence } = view.state
      try {
        await runTurn(this.#deps, { ...about, input, epoch, view, writer })
      } catch (err) {
        logger.warn(
          {
            ...requestFields(envelope),
            component: 'turn',
            action: 'leave',
            sessionId: this.#session,
            turn: input,
            err,
          },
          'left a turn',
        )
        if (BusError.from(err).code !== 'conflict') throw err
        // Somebody wrote: read it before looking again.
        while (view.state.fence === fence) await view.change(1_000)
      }
    }
  }

  /** Whether another orchestrator is alive and at work on the turn. */
  async #isElsewhere({ orchestrator }: Turn, envelope: LogEntry['envelope']): Promise<boolean> {
    const { bus } = this.#deps
    if (orchestrator === bus.id) return false
    const answer = await probe(
      bus,
      orchestratorControl,
      { orchestrator },
      { session: this.#session },
      envelope,
    )
    return answer?.running === true
  }
}

function isAnswered({ state }: SessionView, input: number): boolean {
  if (state.seq < input) return false
  // A message that was sent twice has no turn of its own.
  return !state.inputs.has(input) || state.turns.get(input)?.outcome !== undefined
}

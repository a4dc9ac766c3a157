import type { Envelope, ModelUsage, SessionId, ToolCallId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** More concurrent requests of one session are refused: a user could not answer them. */
const MAX_OPEN = 8

/** A tool call of a turn that this process runs. */
export interface RunningCall {
  readonly session: SessionId
  readonly call: ToolCallId
  readonly attempt: number
  readonly server: string
  readonly tool: string
  /** Its request id is the one the host was called with. */
  readonly envelope: Envelope
  /** Usage of models for sampling requests of the server. */
  readonly usage: ModelUsage[]
  /** Aborted when the call is over, however it ended. */
  readonly signal: AbortSignal
}

/** The tool calls that this process runs: whatever a server asks belongs to one of them. */
export class RunningCalls {
  readonly #calls = new Set<RunningCall>()
  /** Requests in flight by session. */
  readonly #open = new Map<SessionId, number>()

  /** Known until disposed. */
  add(call: RunningCall): Disposable {
    this.#calls.add(call)
    return { [Symbol.dispose]: () => void this.#calls.delete(call) }
  }

  /**
   * The call a server asks for. Where it does not say which, as older ones with several at once, that
   * is the newest of the session's calls to it.
   */
  find(session: SessionId, server: string, requestId?: string): RunningCall | undefined {
    return Array.from(this.#calls).findLast(
      (each) =>
        each.session === session &&
        each.server === server &&
        (requestId === undefined || each.envelope.requestId === requestId),
    )
  }

  /** Takes a place among what is being answered for a session. Throws `exhausted` when none is free. */
  answering(session: SessionId): Disposable {
    const open = this.#open.get(session) ?? 0
    if (open >= MAX_OPEN) {
      const message = `${MAX_OPEN} requests of this session wait for an answer already; ask later`
      throw new BusError('exhausted', message)
    }
    this.#open.set(session, open + 1)
    return {
      [Symbol.dispose]: () => {
        const rest = (this.#open.get(session) ?? 1) - 1
        if (rest === 0) this.#open.delete(session)
        else this.#open.set(session, rest)
      },
    }
  }
}

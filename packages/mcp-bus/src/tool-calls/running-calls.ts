import type { Envelope, ModelUsage, SessionId, ToolCallId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** Limit for concurrent requests of one session, since a user could not answer more. */
const MAX_OPEN = 8

/** A tool call of a turn that this process runs. */
export interface RunningCall {
  readonly session: SessionId
  readonly call: ToolCallId
  readonly attempt: number
  readonly server: string
  readonly tool: string
  /** The envelope, whose request id was passed to the host. */
  readonly envelope: Envelope
  /** Usage of models for sampling requests of the server. */
  readonly usage: ModelUsage[]
  /** Aborts when the call is over, regardless of its outcome. */
  readonly signal: AbortSignal
}

/** The tool calls that run in this process. Each request of a server belongs to one of them. */
export class RunningCalls {
  readonly #calls = new Set<RunningCall>()
  /** Requests in flight by session. */
  readonly #open = new Map<SessionId, number>()

  /** Registers a call until disposed. */
  add(call: RunningCall): Disposable {
    this.#calls.add(call)
    return { [Symbol.dispose]: () => void this.#calls.delete(call) }
  }

  /**
   * The call that caused a request of a server. When the server does not name it, as legacy servers with several calls,
   * the newest call of the session to this server is taken.
   */
  find(session: SessionId, server: string, requestId?: string): RunningCall | undefined {
    return Array.from(this.#calls).findLast(
      (each) =>
        each.session === session &&
        each.server === server &&
        (requestId === undefined || each.envelope.requestId === requestId),
    )
  }

  /** Counts an open request of a session until disposed. Throws `exhausted` when there are too many. */
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

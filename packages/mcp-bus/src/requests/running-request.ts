import type { Cancellation } from '@mcp-host/async'
import type { McpLogLevel } from '@mcp-host/contracts'
import type { ClientRefusal, SendPart } from './client-questions.ts'
import type { Era } from './eras.ts'
import type { SuspendedRequest } from './suspended-request.ts'

/** A request while it runs at the server. */
export interface RunningRequest {
  /** The id of the request at the host. */
  readonly id: string
  /** The session of the caller, if it has one. */
  readonly client: string | undefined
  readonly era: Era
  readonly capabilities: object
  logLevel: McpLogLevel | undefined
  /** Whether the caller gets notices. */
  wantsNotices: boolean
  /** Sends a part of the reply to the current caller. */
  send: SendPart
  /** Whether the caller was asked a question. */
  hasAsked: boolean
  /** The questions of a legacy caller that are open. */
  openQuestions: number
  /** Why the request was ended while one was open. */
  abandoned?: ClientRefusal
  /** Aborts on cancellation and at the end, which withdraws open questions. */
  readonly cancelled: Cancellation
  /** Set when the caller is asked by an `input_required` result and retries with its answer. */
  readonly suspended: SuspendedRequest | undefined
}

/** A caller that waits for a reply. */
export interface Waiting {
  readonly id: string
  readonly running: RunningRequest
  /** The order of callers: later ones have a higher number. */
  readonly turn: number
}

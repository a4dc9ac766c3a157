import type { Envelope, ModelUsage } from '@mcp-host/contracts'
import type { ShowLink } from './follow-link.ts'

/** A tool call of a chat or of an MCP client, at the supervisor that has its server. */
export interface ServedCall<Result> {
  readonly envelope: Envelope
  readonly server: string
  readonly tool: string
  readonly call: string
  /** The session of the chat or of the MCP client. */
  readonly session: string | undefined
  readonly arguments: unknown
  /** Counts the tokens of models that work for the call; absent for MCP clients. */
  readonly usage?: ModelUsage[] | undefined
  /** Aborts, with an error as its reason, when the caller has cancelled the call. */
  readonly cancelled?: (() => AbortSignal) | undefined
  /** Shows a link to the user; absent when the caller has no way to show one. */
  readonly showLink?: ShowLink | undefined
  /** Asks the server. */
  readonly send: () => Promise<Result>
}

/** Serves a call. Throws what the server, or a step before it, throws. */
export type ServeCall = <Result>(call: ServedCall<Result>) => Promise<Result>

/** What happens around every tool call, such as its audit entries. A step knows nothing of its neighbours. */
export type CallStep = (next: ServeCall) => ServeCall

/** Puts the steps around the request to the server, the first outermost. For the start of a server, not for each call. */
export function serveThrough(steps: readonly CallStep[]): ServeCall {
  return steps.reduceRight<ServeCall>(
    (next, step) => step(next),
    ({ send }) => send(),
  )
}

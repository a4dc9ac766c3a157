import type {
  ErrorInfo,
  GenerationResult,
  ToolCallBlock,
  ToolCallId,
  TurnOutcome,
} from '@mcp-host/contracts'
import type { Generation, Input, ToolCall, Turn } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { MAX_JSON_DEPTH } from '@mcp-host/json'
import type { Limits } from '../turn/turn.ts'

/** The next step of a turn. */
export type Step =
  | {
      readonly type: 'generate'
      /** False when the turn has used up its tool calls. */
      readonly withTools: boolean
      /** The failed generation that is retried, with the reason and the time of the retry (epoch milliseconds). */
      readonly again?: {
        readonly voids: Generation
        readonly reason: string
        readonly at: number
        /** The number of the failed attempt, from 1. */
        readonly attempt: number
      }
    }
  | {
      readonly type: 'await-generation'
      readonly generation: Generation
      /** Whether a generation that replaces this one after its worker died gets tools. */
      readonly withTools: boolean
    }
  /** Send less of the conversation after a context overflow. */
  | { readonly type: 'shrink'; readonly generation: Generation; readonly withTools: boolean }
  /** End a call that its user stopped. */
  | { readonly type: 'stop-call'; readonly call: ToolCall }
  | {
      readonly type: 'settle'
      readonly call: ToolCall
      readonly message: string
      /** Whether the policy or the user decided against the call. */
      readonly isDenied?: true
    }
  | { readonly type: 'ask'; readonly call: ToolCall }
  /** Answer a call of one of the host's own tools. */
  | { readonly type: 'answer'; readonly call: ToolCall }
  | {
      readonly type: 'run-tools'
      readonly generation: Generation
      readonly calls: readonly ToolCall[]
    }
  /** Wait until the user has answered, or until this time. */
  | { readonly type: 'wait'; readonly until: number }
  /** End the work in flight, then the turn. */
  | { readonly type: 'stop'; readonly outcome: TurnOutcome; readonly error?: ErrorInfo }
  | {
      readonly type: 'finish'
      readonly outcome: TurnOutcome
      readonly error?: ErrorInfo
      /** Text for the user instead of an answer. */
      readonly message?: string
    }

export interface Rules {
  readonly limits: Limits
  /** Whether a call runs at once, needs a user's approval, or is denied. */
  readonly effectOf: (call: ToolCallBlock) => 'allow' | 'approve' | 'deny'
  /** Whether the session uses the tools of a server. */
  readonly usesServer: (server: string) => boolean
  /** Whether this orchestrator has sent a call to a supervisor, which may not be in the log yet. */
  readonly isRunning: (call: ToolCallId) => boolean
  /** Epoch milliseconds. */
  readonly now: number
}

/** The host's own tools are offered under this server name. */
const HOST_SERVER = 'result'
/** After this number of overflows, each with less of the conversation, the turn fails. */
const MAX_OVERFLOWS = 3
const DENIED = 'not run: the policy of this host does not allow this call. Do not try it again.'
/** When this number of workers died during one answer, the answer counts as the cause. */
const MAX_DEATHS = 5

/** Decides the next step from the log alone. Pure. */
export function decide(turn: Turn, input: Pick<Input, 'cancelledAt'>, rules: Rules): Step {
  const { limits, now } = rules
  if (input.cancelledAt !== undefined) return { type: 'stop', outcome: 'cancelled' }
  const limit = reachedLimit(turn, limits, now)
  if (limit !== undefined) return { type: 'stop', outcome: 'limit', error: limit }

  const generation = turn.generations.findLast(({ isVoid }) => !isVoid)
  const withTools = countCalls(turn.generations) < limits.maxToolCalls
  if (generation === undefined) return { type: 'generate', withTools }
  const { result } = generation
  if (result === undefined) return { type: 'await-generation', generation, withTools }
  if (result.outcome !== 'completed')
    return afterFailure(turn, generation, result, withTools, limits)
  if (generation.calls.size === 0) return { type: 'finish', outcome: 'completed' }

  const calls = Array.from(generation.calls.values())
  const before = countCalls(turn.generations) - calls.length
  const open = calls.filter(isOpen)
  for (const call of open) {
    if (call.cancelledAt !== undefined) return { type: 'stop-call', call }
    const position = before + calls.indexOf(call)
    const isBegun = call.attempt > 0 || rules.isRunning(call.block.id)
    const message =
      refusal(call, position, limits.maxToolCalls) ??
      (isBegun ? undefined : switchedOff(call, rules))
    if (message !== undefined) return { type: 'settle', call, message }
    const refused = disallowed(call, now)
    if (refused !== undefined) return { type: 'settle', call, message: refused, isDenied: true }
    if (call.block.server === HOST_SERVER) return { type: 'answer', call }
    // The policy may have changed while the user was asked.
    const effect = isBegun ? 'allow' : rules.effectOf(call.block)
    if (effect === 'deny') return { type: 'settle', call, message: DENIED, isDenied: true }
    if (effect === 'approve' && call.approval === undefined) return { type: 'ask', call }
  }
  const runnable = open.filter(
    ({ approval }) => approval === undefined || approval.end !== undefined,
  )
  if (runnable.length > 0) return { type: 'run-tools', generation, calls: runnable }
  if (open.length > 0) {
    return {
      type: 'wait',
      until: Math.min(...open.map((call) => call.approval?.asked.expiresAt ?? now)),
    }
  }
  if (before >= limits.maxToolCalls) {
    const message = `the model asked for more than ${limits.maxToolCalls} tool calls and gave no answer`
    return { type: 'finish', outcome: 'limit', error: { code: 'exhausted', message } }
  }
  return { type: 'generate', withTools }
}

export function isOpen(call: ToolCall): boolean {
  return call.settled === undefined && call.result === undefined
}

/** Whether so many workers died during this answer that it counts as the cause. */
export function diesTooOften({ generations }: Turn): boolean {
  return sinceProgress(generations).filter(({ result }) => result === undefined).length > MAX_DEATHS
}

/** Overflows of the model's context since its last complete reply. */
export function countOverflows({ generations }: Pick<Turn, 'generations'>): number {
  return sinceProgress(generations).filter(
    ({ result }) => result?.error?.reason === 'context-overflow',
  ).length
}

/** The generations after the last one that completed. */
function sinceProgress(generations: readonly Generation[]): readonly Generation[] {
  const last = generations.findLastIndex(
    ({ isVoid, result }) => !isVoid && result?.outcome === 'completed',
  )
  return generations.slice(last + 1)
}

function afterFailure(
  turn: Turn,
  generation: Generation,
  { outcome, error }: GenerationResult,
  withTools: boolean,
  { llmRetries, llmRetryMs }: Limits,
): Step {
  const failure: ErrorInfo =
    outcome === 'failed' && error !== undefined
      ? error
      : { code: 'unavailable', message: 'the model broke off' }
  const failed = sinceProgress(turn.generations).filter(
    ({ result }) => result?.outcome === 'failed',
  )
  if (failure.reason === 'context-overflow') {
    if (countOverflows(turn) <= MAX_OVERFLOWS) return { type: 'shrink', generation, withTools }
  } else if (new BusError(failure.code, failure.message).retryable && failed.length <= llmRetries) {
    const at = generation.endedAt + llmRetryMs * 2 ** Math.max(0, failed.length - 1)
    const attempt = Math.max(1, failed.length)
    const again = { voids: generation, reason: failure.message, at, attempt }
    return { type: 'generate', withTools, again }
  }
  const attempt = Math.max(1, failed.length)
  const told: ErrorInfo = { ...failure, attempt, recovery: 'tell-user' }
  return { type: 'finish', outcome: 'failed', error: told, message: apology(turn, failure) }
}

/** The text for the user when no model could answer. `transcript()` also shows it to the next model. */
export function apology(
  { generations }: Pick<Turn, 'generations'>,
  { message }: ErrorInfo,
): string {
  const isBegun = generations.some(
    ({ isVoid, result }) =>
      !isVoid && result?.content.some((block) => block.type === 'text' && block.text !== ''),
  )
  const hasActed = generations.some(
    ({ isVoid, calls }) => !isVoid && calls.values().some(({ attempt }) => attempt > 0),
  )
  const done = hasActed ? ' What the tools did so far stays done and is remembered.' : ''
  return `${isBegun ? '\n\n' : ''}I could not answer this: ${message}.${done} Your message is kept; send it again to try once more.`
}

function reachedLimit(
  { activeSince, usage }: Turn,
  { maxTurnMs, maxTurnTokens }: Limits,
  now: number,
): ErrorInfo | undefined {
  if (maxTurnMs > 0 && now - activeSince > maxTurnMs) {
    const message = `the turn was stopped after ${Math.round(maxTurnMs / 1_000)} s, the limit for one turn`
    return { code: 'deadline', message }
  }
  const written = usage.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0)
  if (maxTurnTokens > 0 && written >= maxTurnTokens) {
    const message = `the turn was stopped after ${written} tokens; ${maxTurnTokens} are the limit for one turn`
    return { code: 'exhausted', message }
  }
  return undefined
}

/** Why a call is not sent to a server, in words for the model; `undefined` when it may be. */
function refusal({ block }: ToolCall, position: number, limit: number): string | undefined {
  if (position >= limit) {
    return `not run: this turn may make ${limit} tool call${limit === 1 ? '' : 's'}. Answer with what you have.`
  }
  if (block.server === undefined || block.tool === undefined) {
    return `there is no tool "${block.name}". Use only the tools you were given, by their exact names.`
  }
  const { arguments: given } = block
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return `the arguments of "${block.name}" must be a JSON object of at most ${MAX_JSON_DEPTH} levels; what you wrote is not.`
  }
  return undefined
}

/** Why the session's choice of servers forbids the call, if it does. */
function switchedOff({ block: { server } }: ToolCall, { usesServer }: Rules): string | undefined {
  if (server === undefined || server === HOST_SERVER) return undefined
  if (usesServer(server)) return undefined
  return `not run: the user has switched off the tools of "${server}" in this chat. Do not try them again.`
}

/** Why the user's answer forbids the call, if it does. */
function disallowed({ approval, attempt }: ToolCall, now: number): string | undefined {
  if (approval === undefined || attempt > 0) return undefined
  const { asked, end } = approval
  if (end === undefined) {
    return now < asked.expiresAt ? undefined : 'not run: the user did not allow this call in time.'
  }
  const isAllowed = end.state === 'answered' && end.answer.action === 'accept'
  return isAllowed ? undefined : 'not run: the user did not allow this call. Do not try it again.'
}

function countCalls(generations: readonly Generation[]): number {
  return generations.reduce((sum, { isVoid, calls }) => (isVoid ? sum : sum + calls.size), 0)
}

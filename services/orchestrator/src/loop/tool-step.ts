import type { ErrorInfo, ToolCallId } from '@mcp-host/contracts'
import type { Generation, ToolCall } from '@mcp-host/session-state'
import { BusError, childEnvelope, ownValue, runTool } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { argumentsOf } from './approval.ts'
import { isOpen } from './decide.ts'
import { pause } from '../turn/pause.ts'
import type { Absence } from '../turn/probe.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { watchCall } from './watch-call.ts'

/** The time limit for finding the supervisor of the server. */
const SUPERVISOR_PATIENCE_MS = 5_000
const ACCEPT_TIMEOUT_MS = 2_000
/** A call with which this number of supervisors died counts as the cause. */
const MAX_DEATHS = 2
/** The time for which one attempt waits for a frozen supervisor. */
const START_PATIENCE_MS = 20_000
const NOT_KNOWN = 'whether it took effect is not known. Do not simply repeat it.'
const DIED = `the process that ran this tool died; ${NOT_KNOWN}`
const DIED_AGAIN = `the process that ran this tool died, and so did the one that repeated it; ${NOT_KNOWN}`
const STOPPED_ANSWERING = `the process that ran this tool stopped answering; ${NOT_KNOWN}`

/** The tool calls of a turn that this process runs, concurrently. */
export class ToolRuns {
  readonly #deps: TurnDeps
  readonly #turn: ClaimedTurn
  readonly #running = new Map<ToolCallId, Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(deps: TurnDeps, turn: ClaimedTurn) {
    this.#deps = deps
    this.#turn = turn
  }

  /** Begins the calls that are not in flight. Throws the failure of an earlier run. */
  start(generation: Generation, calls: readonly ToolCall[]): void {
    if (this.#failure !== undefined) throw this.#failure.error
    for (const call of calls) {
      const { id } = call.block
      if (this.#running.has(id)) continue
      const run = runCall(this.#deps, this.#turn, generation, call)
        .catch((error: unknown) => {
          this.#failure ??= { error }
        })
        .finally(() => this.#running.delete(id))
      this.#running.set(id, run)
    }
  }

  isRunning(call: ToolCallId): boolean {
    return this.#running.has(call)
  }

  /** Resolves when no run is in flight. Runs end soon after the turn is over or handed over. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values())
  }
}

async function runCall(
  deps: TurnDeps,
  turn: ClaimedTurn,
  generation: Generation,
  call: ToolCall,
): Promise<void> {
  let giveUpAt = 0
  let asked: number | undefined
  for (let tries = 0; ; tries++) {
    let absence: Absence = 'gone'
    // An earlier owner of the turn may have dispatched the call, so a supervisor may have it.
    if (tries > 0 || call.attempt > 0) {
      absence = await watchCall(deps, turn, call, () => isLeft(turn, call))
    }
    if (!isOpen(call) || isLeft(turn, call)) return
    // A call that froze its supervisor is not retried, since it may freeze the next one. An attempt that was not begun is
    // asked for again: only one supervisor can begin it.
    const isFrozen = absence === 'silent' && call.attempt > 0
    const isCause = call.attempt >= MAX_DEATHS
    if (isFrozen || isCause || (call.attempt > 0 && !deps.tools.isRepeatable(call.block))) {
      const message = isFrozen ? STOPPED_ANSWERING : isCause ? DIED_AGAIN : DIED
      logFailure(deps, turn, call, 'tell-model', message)
      if (isCause && !isFrozen && call.block.server !== undefined) {
        deps.pauseServer(call.block.server)
      }
      return settleCall(turn, call, 'unknown', message)
    }
    if (asked !== call.attempt) {
      if (call.attempt > 0) logFailure(deps, turn, call, 'retry', 'its process died')
      // A supervisor ran this attempt until just now, so the time limit begins again.
      asked = call.attempt
      giveUpAt = performance.now() + START_PATIENCE_MS
    }
    const refused =
      performance.now() > giveUpAt
        ? 'the tool could not be run'
        : ((await overLimit(deps, turn, call, tries)) ??
          (await dispatch(deps, turn, generation, call, call.attempt + 1)))
    if (isLeft(turn, call)) return
    if (refused !== undefined) {
      logFailure(deps, turn, call, 'tell-model', refused)
      return closeUnrun(turn, call, refused)
    }
  }
}

/** Why a limit forbids the call now, if it does. A retried call was counted at its first try. */
async function overLimit(
  { policy }: TurnDeps,
  { envelope }: ClaimedTurn,
  { block, attempt }: ToolCall,
  tries: number,
): Promise<string | undefined> {
  return tries > 0 || attempt > 0 ? undefined : policy.refusalOf(envelope, block)
}

/** Logs a call that broke off, or that no supervisor accepted. */
function logFailure(
  { logger }: TurnDeps,
  { session, input, envelope }: ClaimedTurn,
  { block, attempt }: ToolCall,
  recovery: NonNullable<ErrorInfo['recovery']>,
  reason: string,
): void {
  const { id, server, tool } = block
  const fields = { ...requestFields(envelope), component: 'tool', action: 'call-failed' }
  const about = {
    sessionId: session,
    turn: input,
    call: id,
    server,
    tool,
    attempt,
    recovery,
    reason,
  }
  logger.warn({ ...fields, ...about }, 'a tool call failed')
}

/** Closes a call that is not retried. An attempt that broke off may have taken effect. */
function closeUnrun(turn: ClaimedTurn, call: ToolCall, reason: string): Promise<void> {
  if (call.attempt === 0) return settleCall(turn, call, 'refused', reason)
  const message = `it broke off, and could not be run again: ${reason}. Whether it took effect is not known.`
  return settleCall(turn, call, 'unknown', message)
}

/** Whether the call is no concern of its run any more: its turn was left, or the call was stopped. */
function isLeft({ cancelled, leaving, over }: ClaimedTurn, { cancelledAt }: ToolCall): boolean {
  return cancelled.aborted || leaving.aborted || over.aborted || cancelledAt !== undefined
}

/** Closes a call without an answer of its server. */
export async function settleCall(
  { writer }: Pick<ClaimedTurn, 'writer'>,
  { block }: ToolCall,
  outcome: 'refused' | 'unknown' | 'cancelled' | 'answered',
  message: string,
): Promise<void> {
  const { id, server, tool = block.name } = block
  const name = server === undefined ? { tool } : { server, tool }
  await writer.append({ type: 'tool-settled', call: id, ...name, outcome, message })
  await writer.folded()
}

/** Dispatches the call to a supervisor. Returns the reason of a refusal, in words for the model. */
async function dispatch(
  { bus, tools }: TurnDeps,
  turn: ClaimedTurn,
  { resultSeq }: Generation,
  call: ToolCall,
  attempt: number,
): Promise<string | undefined> {
  const { session, envelope } = turn
  const { block } = call
  const { server = '', tool = '' } = block
  // `decide()` settles calls whose arguments are not an object.
  const given = argumentsOf(call) as Record<string, never>
  const account = ownValue(turn.view.state.settings.accounts ?? {}, server)
  const options = account === undefined ? {} : { options: { account } }
  const about = { session, call: block.id, attempt, tool, after: resultSeq }
  const request = { ...about, arguments: given, ...options }
  const giveUpAt = performance.now() + SUPERVISOR_PATIENCE_MS
  while (!isLeft(turn, call)) {
    try {
      const sending = {
        envelope: childEnvelope(envelope),
        timeoutMs: ACCEPT_TIMEOUT_MS,
        // A supervisor that was frozen must not run a call that was settled meanwhile.
        expires: true,
      }
      await bus.call(runTool, { server }, request, sending)
      return undefined
    } catch (error) {
      const { code, message } = BusError.from(error)
      // Whether the supervisor accepted the call is unknown. The log and the probes show it.
      if (code === 'deadline') return undefined
      if (code !== 'unavailable') return message
      if (!tools.isConfigured(server)) {
        return `there is no tool "${tool}": the MCP server "${server}" was removed`
      }
      if (performance.now() > giveUpAt) {
        return `the MCP server "${server}" is not available right now; it may be starting or down`
      }
      await pause(turn, 100)
    }
  }
  return undefined
}

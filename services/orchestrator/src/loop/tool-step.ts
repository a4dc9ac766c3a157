import type { ErrorInfo, Generation, ToolCall, ToolCallId } from '@mcp-host/contracts'
import { BusError, childEnvelope, runTool } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { isOpen } from './decide.ts'
import { pause } from '../turn/pause.ts'
import type { Absence } from '../turn/probe.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { watchCall } from './watch-call.ts'

/** The time limit for a supervisor with the server. */
const SUPERVISOR_PATIENCE_MS = 5_000
const ACCEPT_TIMEOUT_MS = 2_000
const MAX_ATTEMPTS = 3
/** How long one attempt waits for a frozen supervisor. */
const START_PATIENCE_MS = 20_000
const NOT_KNOWN = 'whether it took effect is not known. Do not simply repeat it.'
const DIED = `the process that ran this tool died; ${NOT_KNOWN}`
const STOPPED_ANSWERING = `the process that ran this tool stopped answering; ${NOT_KNOWN}`

/** The tool calls of a turn that this process sees through, side by side. */
export class ToolRuns {
  readonly #deps: TurnDeps
  readonly #turn: ClaimedTurn
  readonly #running = new Map<ToolCallId, Promise<void>>()
  #failure: { readonly error: unknown } | undefined

  constructor(deps: TurnDeps, turn: ClaimedTurn) {
    this.#deps = deps
    this.#turn = turn
  }

  /** Begins those that are not under way. Throws what seeing one through failed with. */
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

  /** Resolves when none is under way: once the turn is over or given away they end soon. */
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
    // A supervisor may have it already: an earlier owner of the turn may have dispatched it.
    if (tries > 0 || call.attempt > 0) {
      absence = await watchCall(deps, turn, call, () => isLeft(turn))
    }
    if (!isOpen(call) || isLeft(turn)) return
    // A call that froze its supervisor would freeze the next one, too.
    const isFrozen = absence === 'silent'
    if (isFrozen || (call.attempt > 0 && !deps.tools.isRepeatable(call.block))) {
      const message = isFrozen ? STOPPED_ANSWERING : DIED
      logFailure(deps, turn, call, 'tell-model', message)
      return settleCall(turn, call, 'unknown', message)
    }
    if (asked !== call.attempt) {
      if (call.attempt > 0) logFailure(deps, turn, call, 'retry', 'its process died')
      // A supervisor ran it until just before.
      asked = call.attempt
      giveUpAt = Date.now() + START_PATIENCE_MS
    }
    const isHopeless = call.attempt >= MAX_ATTEMPTS || Date.now() > giveUpAt
    const refused = isHopeless
      ? 'the tool could not be run'
      : await dispatch(deps, turn, generation, call, call.attempt + 1)
    if (isLeft(turn)) return
    if (refused !== undefined) {
      logFailure(deps, turn, call, 'tell-model', refused)
      return closeUnrun(turn, call, refused)
    }
  }
}

/** A call that broke off, or that no supervisor took. */
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

/** Closes a call that is not retried; a broken attempt may have taken effect. */
function closeUnrun(turn: ClaimedTurn, call: ToolCall, reason: string): Promise<void> {
  if (call.attempt === 0) return settleCall(turn, call, 'refused', reason)
  const message = `it broke off, and could not be run again: ${reason}. Whether it took effect is not known.`
  return settleCall(turn, call, 'unknown', message)
}

function isLeft({ cancelled, leaving, over }: ClaimedTurn): boolean {
  return cancelled.aborted || leaving.aborted || over.aborted
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

/** Hands the call to a supervisor. Answers why it was refused, in words for the model. */
async function dispatch(
  { bus, tools }: TurnDeps,
  turn: ClaimedTurn,
  { resultSeq }: Generation,
  { block }: ToolCall,
  attempt: number,
): Promise<string | undefined> {
  const { session, envelope } = turn
  const { server = '', tool = '' } = block
  // decide() lets only calls with an object as arguments come here.
  const given = block.arguments as Record<string, never>
  const request = { session, call: block.id, attempt, tool, arguments: given, after: resultSeq }
  const giveUpAt = Date.now() + SUPERVISOR_PATIENCE_MS
  while (!isLeft(turn)) {
    try {
      // A supervisor that was frozen must not run a call that was settled without it.
      const deadline = Date.now() + ACCEPT_TIMEOUT_MS
      const options = {
        envelope: childEnvelope(envelope, deadline),
        timeoutMs: ACCEPT_TIMEOUT_MS,
      }
      await bus.call(runTool, { server }, request, options)
      return undefined
    } catch (error) {
      const { code, message } = BusError.from(error)
      // Taken or not: the log and the probes will tell.
      if (code === 'deadline') return undefined
      if (code !== 'unavailable') return message
      if (!tools.isConfigured(server)) {
        return `there is no tool "${tool}": the MCP server "${server}" was removed`
      }
      if (Date.now() > giveUpAt) {
        return `the MCP server "${server}" is not available right now; it may be starting or down`
      }
      await pause(turn, 100)
    }
  }
  return undefined
}

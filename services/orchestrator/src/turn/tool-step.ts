import { setTimeout as delay } from 'node:timers/promises'
import type { Generation, ToolCall } from '@mcp-host/contracts'
import { BusError, callControl, childEnvelope, runTool } from '@mcp-host/contracts'
import { isOpen } from './decide.ts'
import { probe } from './probe.ts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'

/** How long a call waits for a supervisor that has the server. */
const SUPERVISOR_PATIENCE_MS = 5_000
const ACCEPT_TIMEOUT_MS = 2_000
const QUIET_MS = 1_000
const MAX_ATTEMPTS = 3
const OUTCOME_UNKNOWN =
  'the process that ran this tool died; whether it took effect is not known. Do not simply repeat it.'

/** Runs the calls side by side; resolves when each has a result or was settled. */
export async function runTools(
  deps: TurnDeps,
  turn: ClaimedTurn,
  generation: Generation,
  calls: readonly ToolCall[],
): Promise<void> {
  const ends = await Promise.allSettled(calls.map((call) => runCall(deps, turn, generation, call)))
  // Only now: a call that is still watched when the turn is left would be watched for ever.
  const failed = ends.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}

async function runCall(
  deps: TurnDeps,
  turn: ClaimedTurn,
  generation: Generation,
  call: ToolCall,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    // Somebody may be at work on it already: an earlier owner of the turn may have asked.
    if (tries > 0 || call.attempt > 0) {
      while (isOpen(call) && (await isAtWork(deps, turn, call)));
    }
    if (!isOpen(call)) return
    if (call.attempt > 0 && !deps.tools.isRepeatable(call.block)) {
      return settleCall(turn, call, 'unknown', OUTCOME_UNKNOWN)
    }
    const refused =
      tries < MAX_ATTEMPTS
        ? await dispatch(deps, turn, generation, call, call.attempt + 1)
        : 'the tool could not be run'
    if (refused !== undefined) return settleCall(turn, call, 'refused', refused)
  }
}

/** Closes a call without an answer of its server. */
export async function settleCall(
  { writer }: ClaimedTurn,
  { block }: ToolCall,
  outcome: 'refused' | 'unknown',
  message: string,
): Promise<void> {
  const { id, server, tool = block.name } = block
  const name = server === undefined ? { tool } : { server, tool }
  await writer.append({ type: 'tool-settled', call: id, ...name, outcome, message })
  await writer.folded()
}

/** Hands the call to a supervisor. Answers why it was refused, in words for the model. */
async function dispatch(
  { bus }: TurnDeps,
  { session, envelope }: ClaimedTurn,
  { resultSeq }: Generation,
  { block }: ToolCall,
  attempt: number,
): Promise<string | undefined> {
  const { server = '', tool = '' } = block
  // decide() lets only calls with an object as arguments come here.
  const given = block.arguments as Record<string, never>
  const request = { session, call: block.id, attempt, tool, arguments: given, after: resultSeq }
  const giveUpAt = Date.now() + SUPERVISOR_PATIENCE_MS
  for (;;) {
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
      if (Date.now() > giveUpAt) {
        return `the MCP server "${server}" is not available right now: ${message}`
      }
      await delay(100)
    }
  }
}

/** Waits for news; answers whether somebody still works on the call. */
async function isAtWork(
  { bus }: TurnDeps,
  { session, view, envelope }: ClaimedTurn,
  call: ToolCall,
): Promise<boolean> {
  const { seq } = view.state
  await view.change(QUIET_MS)
  if (view.state.seq > seq || !isOpen(call)) return true
  const params = { call: call.block.id }
  if ((await probe(bus, callControl, params, { action: 'ping' }, envelope)) !== undefined)
    return true
  const missed = await bus.sessions.read(session, view.state.seq)
  return missed.length > 0
}

import type { Generation, ToolCall, Turn } from '@mcp-host/session-state'
import { BusError, callControl, childEnvelope, generationControl } from '@mcp-host/contracts'
import { isOpen } from './decide.ts'
import { settleCall } from './tool-step.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

/** The time that stopped work has to report its outcome. */
const GRACE_MS = 1_500
const HEARING_MS = 500
const CONTROL_TIMEOUT_MS = 500
const STOPPED = 'the user stopped this call alone. Do not repeat it unless the user asks for it'
/** The pause between repetitions of a stop, since the listener of a new call may not exist yet. */
const AGAIN_MS = 50

/**
 * Ends the work in flight of a turn, and closes its open calls in the log. Text that a model has written and answers
 * that arrive in time stay part of the conversation. `why`: the reason that the model reads for a stopped call, as a
 * clause.
 */
export async function stopTurn(
  deps: TurnDeps,
  turn: ClaimedTurn,
  state: Turn,
  why: string,
): Promise<void> {
  const { view, input } = turn
  const generation = state.generations.findLast(({ isVoid }) => !isVoid)
  const openCalls = (): ToolCall[] => Array.from(generation?.calls.values() ?? []).filter(isOpen)
  const calls = openCalls()
  const isWriting = generation !== undefined && generation.result === undefined
  const [isModelTold, ...areTold] = await Promise.all([
    isWriting && stopGeneration(deps, turn, generation),
    ...calls.map((call) => tellCall(deps, turn, call)),
  ])
  const since = view.state.inputs.get(input)?.cancelledAt
  if (since !== undefined && (isModelTold || areTold.includes(true))) {
    deps.events.cancelReached((deps.bus.clock.now() - since) / 1_000)
  }
  const giveUpAt = Date.now() + GRACE_MS
  const isAwaited = (): boolean =>
    (isModelTold && generation?.result === undefined) ||
    calls.some((call, index) => areTold[index] === true && isOpen(call))
  while (isAwaited() && Date.now() < giveUpAt) await view.change(giveUpAt - Date.now())
  // A model that was about to finish may have asked for calls meanwhile.
  for (const call of openCalls()) {
    await settleCall(turn, call, 'cancelled', cancelledMessage(call, why))
  }
}

/** Ends one call that its user stopped, also one that waits for its user or for a server. */
export async function stopCall(deps: TurnDeps, turn: ClaimedTurn, call: ToolCall): Promise<void> {
  const { cancelledAt = deps.bus.clock.now() } = call
  if (await tellCall(deps, turn, call, `stopped: ${STOPPED}`)) {
    deps.events.cancelReached((deps.bus.clock.now() - cancelledAt) / 1_000)
    const giveUpAt = Date.now() + GRACE_MS
    while (isOpen(call) && Date.now() < giveUpAt) await turn.view.change(giveUpAt - Date.now())
  }
  if (isOpen(call)) await settleCall(turn, call, 'cancelled', cancelledMessage(call, STOPPED))
}

function cancelledMessage({ attempt }: ToolCall, why: string): string {
  return attempt > 0
    ? `stopped while it ran: ${why}. Whether it took effect is not known.`
    : `not run: ${why}.`
}

function stopGeneration(
  { bus }: TurnDeps,
  { envelope }: ClaimedTurn,
  generation: Generation,
): Promise<boolean> {
  return tellAgain(
    () =>
      bus.call(
        generationControl,
        { generation: generation.id },
        { action: 'cancel' },
        { envelope: childEnvelope(envelope), timeoutMs: CONTROL_TIMEOUT_MS },
      ),
    () => generation.result !== undefined,
  )
}

function tellCall(
  { bus }: TurnDeps,
  { envelope }: ClaimedTurn,
  call: ToolCall,
  reason?: string,
): Promise<boolean> {
  // No supervisor has been asked to run this call.
  if (call.attempt === 0 && call.approval !== undefined && call.approval.end === undefined) {
    return Promise.resolve(false)
  }
  return tellAgain(
    () =>
      bus.call(
        callControl,
        { call: call.block.id },
        { action: 'cancel', ...(reason === undefined ? {} : { reason }) },
        { envelope: childEnvelope(envelope), timeoutMs: CONTROL_TIMEOUT_MS },
      ),
    () => !isOpen(call),
  )
}

/**
 * Repeats a stop until it is acknowledged, the work is over, or there is no listener. Returns whether it was
 * acknowledged.
 */
async function tellAgain(tell: () => Promise<unknown>, isOver: () => boolean): Promise<boolean> {
  const giveUpAt = Date.now() + HEARING_MS
  while (!isOver()) {
    try {
      await tell()
      return true
    } catch (error) {
      const { code } = BusError.from(error)
      if (code !== 'unavailable' && code !== 'deadline') throw error
      if (Date.now() >= giveUpAt) return false
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
  return false
}

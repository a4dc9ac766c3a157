import type { ToolCall } from '@mcp-host/session-state'
import { callControl, supervisorControl } from '@mcp-host/contracts'
import { isOpen } from './decide.ts'
import type { Absence } from '../turn/probe.ts'
import { findAbsence } from '../turn/probe.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'

const QUIET_MS = 1_000
/**
 * The time limit for a silent supervisor with a call. A frozen process is replaced after about 10 s, while the end of a
 * process is known at once.
 */
const SILENCE_LIMIT_MS = 15_000
/** The time limit for an answer of the broker. One that is frozen keeps the answers of supervisors back, too. */
const BROKER_LIMIT_MS = 1_000
/** The time after an outage of the broker in which supervisors connect again. */
const STEADY_MS = 2_000

/**
 * Waits while a supervisor works on the call. `gone`: no supervisor has the call. `silent`: its supervisor stopped
 * answering, and may or may not finish the call.
 */
export async function watchCall(
  deps: TurnDeps,
  turn: ClaimedTurn,
  call: ToolCall,
  isLeft: () => boolean,
): Promise<Absence> {
  let silentMs = 0
  while (isOpen(call) && !isLeft()) {
    const from = performance.now()
    const look = await lookAtCall(deps, turn, call)
    if (look === 'answered') silentMs = 0
    if (look === 'gone' && (silentMs === 0 || (await isRunning(deps, turn, call)))) return 'gone'
    // A frozen supervisor that an outage of the broker cut off reads as gone until it connects again.
    if (look === 'gone' || look === 'silent') silentMs += performance.now() - from
    if (silentMs >= SILENCE_LIMIT_MS) return 'silent'
  }
  return 'gone'
}

/** Waits for news, and pings the supervisor when there are none. */
async function lookAtCall(
  { bus }: TurnDeps,
  { session, view, envelope }: ClaimedTurn,
  call: ToolCall,
): Promise<'news' | 'answered' | Absence> {
  const { seq } = view.state
  await view.change(QUIET_MS)
  if (view.state.seq > seq || !isOpen(call)) return 'news'
  const params = { call: call.block.id }
  const absence = await findAbsence(bus, callControl, params, { action: 'ping' }, envelope)
  if (absence === undefined) return 'answered'
  const askedAt = performance.now()
  const last = await bus.sessions.lastSequence(session)
  const isAway = performance.now() - askedAt > BROKER_LIMIT_MS
  if (isAway || bus.sinceOutageMs() < STEADY_MS) return 'news'
  if (absence === 'silent') return 'silent'
  if (last <= view.state.seq) return 'gone'
  await view.reach(last)
  return 'news'
}

/** Whether the supervisor of the last attempt is there. A supervisor that was killed while frozen is not. */
async function isRunning(
  { bus }: TurnDeps,
  { envelope }: ClaimedTurn,
  { starts }: ToolCall,
): Promise<boolean> {
  const supervisor = starts.at(-1)?.supervisor
  if (supervisor === undefined) return false
  const params = { supervisor }
  return (
    (await findAbsence(bus, supervisorControl, params, { action: 'ping' }, envelope)) === undefined
  )
}

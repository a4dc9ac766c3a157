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
  let silentSince: number | undefined
  while (isOpen(call) && !isLeft()) {
    const look = await lookAtCall(deps, turn, call)
    if (look === 'answered') silentSince = undefined
    if (look === 'gone') {
      if (silentSince === undefined || (await isRunning(deps, turn, call))) return 'gone'
      // After an outage a frozen supervisor reads as gone until it thaws and connects again.
      const frozenMs = performance.now() - silentSince
      if (deps.bus.sinceOutageMs() > frozenMs || frozenMs >= SILENCE_LIMIT_MS) return 'silent'
    }
    if (look !== 'silent') continue
    silentSince ??= performance.now()
    if (performance.now() - silentSince >= SILENCE_LIMIT_MS) return 'silent'
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
  if (bus.sinceOutageMs() < STEADY_MS) return 'news'
  if (absence === 'silent') return 'silent'
  const last = await bus.sessions.lastSequence(session)
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

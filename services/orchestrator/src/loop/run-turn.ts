import type { ErrorInfo, OfferedTool, ToolCallBlock, TurnOutcome } from '@mcp-host/contracts'
import type { Generation, ToolCall, Turn } from '@mcp-host/session-state'
import { BusError } from '@mcp-host/contracts'
import { activityOf } from '@mcp-host/session-state'
import { requestFields } from '@mcp-host/service'
import { answerFindTools, FIND_TOOL } from '../context/found-tools.ts'
import { answerResultTool } from '../context/result-tools.ts'
import { askApproval } from './approval.ts'
import type { Rules, Step } from './decide.ts'
import { apology, countOverflows, decide, diesTooOften } from './decide.ts'
import {
  nextGeneration,
  requestGeneration,
  startGeneration,
  watchGeneration,
} from './generation-step.ts'
import { pause } from '../turn/pause.ts'
import { sessionLimits } from '../turn/session-limits.ts'
import { usesServer } from '../turn/session-servers.ts'
import { stopCall, stopTurn } from './stop-turn.ts'
import { recordDenial } from './record-denial.ts'
import { settleCall, ToolRuns } from './tool-step.ts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { TurnFailure } from '../turn/turn-failure.ts'

/** Limits the claims of a turn without progress. */
const MAX_IDLE_CLAIMS = 5
/** The period without news after which the turn is checked. */
const QUIET_MS = 1_000

const NOT_IN_ORDER: Step = {
  type: 'stop',
  outcome: 'failed',
  error: {
    code: 'denied',
    message: 'the account or key of this message was disabled or lost a role; send it again',
  },
}

/** The end of a claim: the turn is over, waits for its user, or is left to another orchestrator. */
export type TurnEnd =
  | { readonly state: 'done' | 'left' }
  | { readonly state: 'waiting'; readonly until: number }

/**
 * Claims the turn and takes steps until its end, a wait, or a handover. Throws `conflict` when another orchestrator has
 * the turn.
 */
export async function runTurn(deps: TurnDeps, turn: ClaimedTurn): Promise<TurnEnd> {
  const { view, input, writer, epoch, messageId, cancelled, session } = turn
  const before = view.state.turns.get(input)
  const idleClaims = before?.idleClaims ?? 0
  // One append has the claim and the first generation, so that only one write is needed before the first text.
  const isToBegin = before === undefined && !cancelled.aborted && (await isInOrder(deps, turn))
  const generation = isToBegin ? nextGeneration(deps, turn) : undefined
  const { settings } = view.state
  const missing = deps.tools.missing().filter((server) => usesServer(settings, server))
  await writer.append({
    type: 'turn-claimed',
    messageId,
    orchestrator: deps.bus.id,
    epoch,
    ...(generation === undefined ? {} : { generation }),
    ...(missing.length === 0 || before !== undefined ? {} : { missing }),
  })
  const runs = new ToolRuns(deps, turn)
  try {
    if (idleClaims >= MAX_IDLE_CLAIMS) {
      const message = 'it broke off again and again'
      await writer.folded()
      // Work of an earlier owner may still run and cost tokens.
      await stopTurn(deps, turn, ownTurn(deps, turn), message)
      throw new TurnFailure({ code: 'internal', message })
    }
    if (generation !== undefined) {
      const { maxToolCalls } = sessionLimits(deps.limits, view.state, input)
      await requestGeneration(deps, turn, generation, maxToolCalls > 0)
    }
    // After a takeover nothing is noted yet: the record may be older.
    let noted = generation === undefined ? undefined : activityOf(view.state)
    for (;;) {
      const end = await takeStep(deps, turn, runs)
      const activity = activityOf(view.state)
      if (activity !== noted && end?.state !== 'done') deps.note(session, view.state)
      noted = activity
      if (end !== undefined) return end
    }
  } catch (error) {
    // Another orchestrator has the turn, or the log is away: the turn is released.
    if (!(error instanceof TurnFailure)) throw error
    const state = view.state.turns.get(input) ?? { generations: [] }
    const message = apology(state, error.info)
    await finish(deps, turn, { outcome: 'failed', error: error.info, message })
    return { state: 'done' }
  }
}

/** Answers a call of one of the host's own tools. */
async function answerOwnTool(
  deps: TurnDeps,
  { view, envelope }: ClaimedTurn,
  call: ToolCall,
): Promise<string> {
  const { tool, arguments: given } = call.block
  if (tool !== FIND_TOOL) return answerResultTool(deps, view.state, call)
  const isShown = (found: OfferedTool): boolean =>
    usesServer(view.state.settings, found.server) && !deps.policy.isHidden(envelope, found)
  const index = await deps.tools.index()
  await index.prepare()
  return answerFindTools(index, given, isShown)
}

/** Takes the next step. Returns the end of the claim, if the step was the last one. */
async function takeStep(
  deps: TurnDeps,
  turn: ClaimedTurn,
  runs: ToolRuns,
): Promise<TurnEnd | undefined> {
  const { view, writer, leaving } = turn
  await writer.folded()
  const state = ownTurn(deps, turn)
  if (leaving.aborted) return leave(turn, runs)
  const step = (await isInOrder(deps, turn))
    ? nextStep(deps, turn, state, (call) => runs.isRunning(call))
    : NOT_IN_ORDER
  switch (step.type) {
    case 'generate': {
      const { withTools, again } = step
      if (again === undefined) {
        await startGeneration(deps, turn, { withTools })
        return undefined
      }
      const early = again.at - deps.bus.clock.now()
      if (early > 0) await pause(turn, early)
      else {
        deps.events.modelAskedAgain()
        const { voids, reason, attempt } = again
        logFailure(deps, turn, voids, { attempt, recovery: 'retry' })
        await startGeneration(deps, turn, { withTools, voids: voids.id, reason })
      }
      return undefined
    }
    case 'await-generation': {
      const { generation, withTools } = step
      if ((await watchGeneration(deps, turn, generation)) === 'news') return undefined
      if (diesTooOften(state)) {
        const message = 'the model broke off again and again'
        throw new TurnFailure({ code: 'unavailable', message })
      }
      await startGeneration(deps, turn, { withTools, voids: generation.id })
      return undefined
    }
    case 'shrink': {
      const { generation, withTools } = step
      logFailure(deps, turn, generation, { attempt: countOverflows(state), recovery: 'shorten' })
      const reason = 'the conversation was too long for it and is shortened'
      await startGeneration(deps, turn, { withTools, voids: generation.id, reason, force: true })
      return undefined
    }
    case 'stop-call':
      await stopCall(deps, turn, step.call)
      return undefined
    case 'settle':
      deps.events.toolRefused()
      if (step.isDenied === true) recordDenial(deps, turn, step)
      await settleCall(turn, step.call, 'refused', step.message)
      return undefined
    case 'ask':
      await askApproval(deps, turn, step.call)
      return undefined
    case 'answer':
      await settleCall(turn, step.call, 'answered', await answerOwnTool(deps, turn, step.call))
      return undefined
    case 'run-tools':
      runs.start(step.generation, step.calls)
      await view.change(QUIET_MS)
      return undefined
    case 'wait':
      return wait(deps, turn, step.until)
    case 'stop':
      await stopTurn(deps, turn, state, step.error?.message ?? 'the user stopped the turn')
      await finish(deps, turn, step)
      return { state: 'done' }
    case 'finish':
      await finish(deps, turn, step)
      return { state: 'done' }
    default:
      return step satisfies never
  }
}

/** Whether the principal still has the roles with which its message was accepted. */
async function isInOrder({ principals }: TurnDeps, { view, input, envelope }: ClaimedTurn) {
  return principals.isInOrder(envelope, view.state.inputs.get(input)?.time ?? 0)
}

/** Logs a failure of a model that the turn recovers from. */
function logFailure(
  { logger }: TurnDeps,
  { session, input, envelope }: ClaimedTurn,
  { id, result }: Generation,
  about: Required<Pick<ErrorInfo, 'attempt' | 'recovery'>>,
): void {
  const fields = { ...requestFields(envelope), component: 'turn', action: 'generation-failed' }
  const { provider, model, error: err } = result ?? {}
  logger.warn(
    { ...fields, sessionId: session, turn: input, generation: id, provider, model, ...about, err },
    'a model failed',
  )
}

function ownTurn({ bus }: TurnDeps, { view, input, epoch }: ClaimedTurn): Turn {
  const state = view.state.turns.get(input)
  if (state === undefined || state.orchestrator !== bus.id || state.epoch !== epoch) {
    throw new BusError('conflict', 'the turn was taken over')
  }
  return state
}

function nextStep(
  deps: TurnDeps,
  { view, input, envelope }: ClaimedTurn,
  state: Turn,
  isRunning: Rules['isRunning'],
): Step {
  const effectOf = (call: ToolCallBlock) => deps.policy.effectOf(envelope, call)
  const limits = sessionLimits(deps.limits, view.state, input)
  const { inputs, settings } = view.state
  const rules = {
    limits,
    effectOf,
    usesServer: (server: string) => usesServer(settings, server),
    isRunning,
    now: deps.bus.clock.now(),
  }
  return decide(state, inputs.get(input) ?? {}, rules)
}

/** Releases the turn until its user has answered; any orchestrator that gets the answer claims it. */
async function wait(
  deps: TurnDeps,
  turn: ClaimedTurn,
  until: number,
): Promise<TurnEnd | undefined> {
  await turn.writer.append({ type: 'turn-waiting', for: 'approval', until })
  await turn.writer.folded()
  // An answer that was stored before this wakes no other process.
  const isStill = nextStep(deps, turn, ownTurn(deps, turn), () => false).type === 'wait'
  return isStill ? { state: 'waiting', until } : { state: 'waiting', until: 0 }
}

/** Hands the turn over between two steps. Work in flight goes on, and the next owner finds it in the log. */
async function leave({ writer, view, input }: ClaimedTurn, runs: ToolRuns): Promise<TurnEnd> {
  await runs.ended()
  if (view.state.turns.get(input)?.done === undefined) {
    await writer.append({ type: 'turn-waiting', for: 'owner', until: Date.now() })
    await writer.folded()
  }
  return { state: 'left' }
}

async function finish(
  { logger, events, note, chargeTokens }: TurnDeps,
  { session, input, messageId, writer, view, envelope }: ClaimedTurn,
  end: { readonly outcome: TurnOutcome; readonly error?: ErrorInfo; readonly message?: string },
): Promise<void> {
  const { outcome, error, message } = end
  const { usage = [], generations = [] } = view.state.turns.get(input) ?? {}
  const unfinished = generations.findLast(({ isVoid, result }) => !isVoid && result === undefined)
  await writer.append({
    type: 'turn-done',
    messageId,
    outcome,
    ...(unfinished === undefined ? {} : { voids: unfinished.id }),
    ...(error === undefined ? {} : { error }),
    ...(message === undefined ? {} : { message }),
    ...(usage.length === 0 ? {} : { usage }),
  })
  await writer.folded()
  events.turnDone(outcome, usage)
  const used = usage.map(({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens)
  chargeTokens(
    envelope.principal,
    used.reduce((sum, each) => sum + each, 0),
  )
  note(session, view.state)
  logger.info(
    {
      ...requestFields(envelope),
      component: 'turn',
      action: 'done',
      sessionId: session,
      turn: input,
      outcome,
      usage,
      err: error,
      attempt: error?.attempt,
      recovery: error?.recovery,
    },
    'turn done',
  )
}

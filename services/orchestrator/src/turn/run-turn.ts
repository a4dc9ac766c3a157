import type { ErrorInfo, TurnOutcome } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { requestFields } from '@mcp-host/service'
import { decide } from './decide.ts'
import {
  requestGeneration,
  startGeneration,
  watchGeneration,
  nextGeneration,
} from './generation-step.ts'
import { runTools, settleCall } from './tool-step.ts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'
import { TurnFailure } from './turn-failure.ts'

/** A turn that was taken over so often makes no progress; it must not go round for ever. */
const MAX_EPOCH = 5
const MAX_VOID_GENERATIONS = 5

/** Claims the turn and takes it to its end. Throws `conflict` when another orchestrator has it. */
export async function runTurn(deps: TurnDeps, turn: ClaimedTurn): Promise<void> {
  const { view, input, writer, epoch } = turn
  const isNew = view.state.turns.get(input) === undefined
  const generation = isNew ? nextGeneration(turn) : undefined
  await writer.append({
    type: 'turn-claimed',
    messageId: view.state.inputs.get(input)?.id ?? '',
    orchestrator: deps.bus.id,
    epoch,
    ...(generation === undefined ? {} : { generation }),
  })
  try {
    if (epoch > MAX_EPOCH) {
      throw new TurnFailure({ code: 'internal', message: 'this message could not be answered' })
    }
    if (generation !== undefined) {
      await requestGeneration(deps, turn, generation, deps.limits.maxToolCalls > 0)
    }
    while (!(await takeStep(deps, turn)));
  } catch (error) {
    // Somebody else has the turn, or the log is away: it is left, to be claimed anew.
    if (!(error instanceof TurnFailure)) throw error
    await finish(deps, turn, 'failed', error.info)
  }
}

/** Does what the log says is next. Answers whether the turn is over. */
async function takeStep(deps: TurnDeps, turn: ClaimedTurn): Promise<boolean> {
  await turn.writer.folded()
  const state = turn.view.state.turns.get(turn.input)
  if (state === undefined || state.orchestrator !== deps.bus.id || state.epoch !== turn.epoch) {
    throw new BusError('conflict', 'the turn was taken over')
  }
  const step = decide(state, deps.limits)
  switch (step.type) {
    case 'generate':
      await startGeneration(deps, turn, step)
      return false
    case 'await-generation': {
      if ((await watchGeneration(deps, turn, step.generation)) === 'news') return false
      if (state.generations.filter(({ isVoid }) => isVoid).length >= MAX_VOID_GENERATIONS) {
        const message = 'the model broke off again and again; please try again'
        throw new TurnFailure({ code: 'unavailable', message })
      }
      const { generation, withTools } = step
      await startGeneration(deps, turn, { withTools, voids: generation.id })
      return false
    }
    case 'settle':
      deps.events.toolRefused()
      await settleCall(turn, step.call, 'refused', step.message)
      return false
    case 'run-tools':
      await runTools(deps, turn, step.generation, step.calls)
      return false
    case 'finish':
      await finish(deps, turn, step.outcome, step.error)
      return true
    default:
      return step satisfies never
  }
}

async function finish(
  { logger, events }: TurnDeps,
  { session, input, writer, envelope }: ClaimedTurn,
  outcome: TurnOutcome,
  error: ErrorInfo | undefined,
): Promise<void> {
  await writer.append({ type: 'turn-done', outcome, ...(error === undefined ? {} : { error }) })
  await writer.folded()
  events.turnDone(outcome)
  logger.info(
    {
      ...requestFields(envelope),
      component: 'turn',
      action: 'done',
      sessionId: session,
      turn: input,
      outcome,
      err: error,
    },
    'turn done',
  )
}

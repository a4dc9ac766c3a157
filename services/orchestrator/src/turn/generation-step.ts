import { setTimeout as delay } from 'node:timers/promises'
import type { Generation, GenerationId, OfferedTool } from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  generate,
  generationControl,
  generationId,
} from '@mcp-host/contracts'
import { transcript } from '../context/transcript.ts'
import { probe } from './probe.ts'
import type { ClaimedTurn, TurnDeps } from './turn.ts'
import { TurnFailure } from './turn-failure.ts'

/** A model that has not finished by then never will. */
const GENERATION_LIMIT_MS = 600_000
/** How long a turn waits for a worker to turn up. */
const WORKER_PATIENCE_MS = 10_000
const ACCEPT_TIMEOUT_MS = 2_000
/** After so much silence the worker is asked whether it lives. */
const QUIET_MS = 1_000
/** How much conversation fits into one request. */
const MAX_PROMPT_BYTES = 512 * 1024

/** The id a generation gets that is started by the next append. */
export function nextGeneration({ session, view }: ClaimedTurn): GenerationId {
  return generationId(session, view.state.fence)
}

/** Starts a generation in the log, then asks a worker for it. */
export async function startGeneration(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { withTools, voids }: { withTools: boolean; voids?: GenerationId },
): Promise<void> {
  await turn.writer.folded()
  const generation = nextGeneration(turn)
  await turn.writer.append({
    type: 'generation-started',
    generation,
    ...(voids === undefined ? {} : { voids }),
  })
  await requestGeneration(deps, turn, generation, withTools)
}

/** Hands a started generation to a worker. Throws `TurnFailure` when none takes it. */
export async function requestGeneration(
  { bus, tools, systemPrompt }: TurnDeps,
  { session, input, view, envelope }: ClaimedTurn,
  generation: GenerationId,
  withTools: boolean,
): Promise<void> {
  const offered: readonly OfferedTool[] = withTools ? await tools.offered() : []
  const deadline = Date.now() + GENERATION_LIMIT_MS
  const request = {
    session,
    turn: input,
    generation,
    messages: transcript(view.state, input),
    tools: [...offered],
    deadline,
    ...(systemPrompt === '' ? {} : { system: systemPrompt }),
  }
  if (Buffer.byteLength(JSON.stringify(request)) > MAX_PROMPT_BYTES) {
    const message = 'this conversation has become too long; please start a new one'
    throw new TurnFailure({ code: 'exhausted', message })
  }
  const giveUpAt = Date.now() + WORKER_PATIENCE_MS
  for (;;) {
    try {
      await bus.call(generate, {}, request, {
        // A worker that was frozen must not begin what was given up meanwhile.
        envelope: childEnvelope(envelope, Date.now() + ACCEPT_TIMEOUT_MS),
        timeoutMs: ACCEPT_TIMEOUT_MS,
      })
      return
    } catch (error) {
      const failure = BusError.from(error)
      // Whether it was taken is not known: if nobody works on it, that shows soon.
      if (failure.code === 'deadline') return
      if (failure.code !== 'unavailable') throw new TurnFailure(failure.toInfo())
      if (Date.now() > giveUpAt) {
        const message = 'no model can be reached right now; please try again'
        throw new TurnFailure({ code: 'unavailable', message })
      }
      await delay(100)
    }
  }
}

/** Waits for news of a running generation. Answers `'dead'` when nobody works on it any more. */
export async function watchGeneration(
  { bus }: TurnDeps,
  { session, view, envelope }: ClaimedTurn,
  generation: Generation,
): Promise<'news' | 'dead'> {
  const { seq } = view.state
  await view.change(QUIET_MS)
  if (view.state.seq > seq) return 'news'
  const params = { generation: generation.id }
  const worker = await probe(bus, generationControl, params, { action: 'ping' }, envelope)
  if (worker !== undefined) return 'news'
  // It may have ended between two looks: the log has the last word.
  const missed = await bus.sessions.read(session, view.state.seq)
  return missed.length === 0 && generation.result === undefined ? 'dead' : 'news'
}

import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { GenerateRequest, GenerationResult } from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  generationControl,
  generationSnapshot,
  textDelta,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { WorkerEvents } from '../events.ts'
import { GenerationText } from '../generation/generation-text.ts'
import { runGeneration } from '../generation/run-generation.ts'
import type { Model } from '../model.ts'

export interface GenerateDeps {
  readonly bus: Bus
  readonly model: Model
  readonly logger: Logger
  readonly events: WorkerEvents
  /** Work under way, to be waited for. */
  readonly running: Set<Promise<unknown>>
}

/** Accepts a generation and lets it run; its end is a fact in the session's log. */
export function startGeneration(
  deps: GenerateDeps,
  served: ServedRequest<GenerateRequest>,
): { worker: string } {
  const run = runAndRecord(deps, served).catch((err: unknown) => {
    deps.logger.error({ ...fields(served), action: 'record', err }, 'a generation was lost')
  })
  deps.running.add(run)
  void run.finally(() => deps.running.delete(run))
  return { worker: deps.bus.id }
}

async function runAndRecord(
  { bus, model, logger, events }: GenerateDeps,
  served: ServedRequest<GenerateRequest>,
): Promise<void> {
  const { request, envelope } = served
  const { session, generation } = request
  const cancel = new AbortController()
  const text = new GenerationText(generation)
  // Answered only while this runs: whoever gets no answer knows that it is over.
  using _control = bus.serve(generationControl, { generation }, ({ request: { action } }) => {
    if (action === 'cancel') cancel.abort()
    return { worker: bus.id }
  })
  using _snapshot = bus.serve(generationSnapshot, { generation }, ({ request: { offset } }) => ({
    deltas: text.since(offset),
  }))
  const done = events.generationStarted(model)
  const result = await runGeneration(
    {
      model,
      text,
      emit: (delta) => bus.emit(textDelta, { session }, delta),
      onFailure: (err) =>
        logger.warn({ ...fields(served), action: 'fail', err }, 'generation failed'),
      onFirstText: () => done.firstText(),
    },
    request,
    { signal: cancel.signal },
  )
  done.ended(result.outcome)
  logger.info(
    {
      ...fields(served),
      action: 'end',
      outcome: result.outcome,
      usage: result.usage,
      err: result.error,
    },
    'generation ended',
  )
  const append = (fact: GenerationResult): Promise<unknown> =>
    bus.sessions.append(
      session,
      { kind: 'generation', fact },
      {
        envelope: childEnvelope(envelope),
        messageId: `${generation}:${bus.id}`,
        patienceMs: 60_000,
      },
    )
  try {
    await append(result)
  } catch (error) {
    // Too large for the log, or not JSON: the turn must still learn that it is over.
    if (!(error instanceof BusError) || error.code !== 'invalid') throw error
    await append({ ...result, outcome: 'failed', content: [], error: error.toInfo() })
  }
}

function fields({ request, envelope }: ServedRequest<GenerateRequest>): Record<string, unknown> {
  return {
    ...requestFields(envelope),
    component: 'generation',
    sessionId: request.session,
    generation: request.generation,
  }
}

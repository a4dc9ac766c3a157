import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { GenerateRequest, GenerationResult } from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  generationSnapshot,
  shardOf,
  textDelta,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { WorkerEvents } from '../events.ts'
import { GenerationText } from '../generation/generation-text.ts'
import type { HeartbeatSender } from '../generation/heartbeat-sender.ts'
import { readPrompt } from '../generation/read-prompt.ts'
import { runGeneration } from '../generation/run-generation.ts'
import type { Model } from '../model.ts'
import { serveControl } from './serve-control.ts'

export interface GenerateDeps {
  readonly bus: Bus
  /** The model by its name, or the default model. */
  readonly modelOf: (reference?: string, avoid?: readonly string[]) => Model
  readonly logger: Logger
  readonly events: WorkerEvents
  readonly roster: HeartbeatSender
  /** Aborted when the worker ends. Running generations are then abandoned, and another worker begins them anew. */
  readonly stopped: AbortSignal
}

/** Runs a generation and records its result in the session's log. Never throws. */
export async function runAndRecord(
  deps: GenerateDeps,
  served: ServedRequest<GenerateRequest>,
): Promise<void> {
  try {
    await run(deps, served)
  } catch (err) {
    // A generation without a result counts as dead and is begun anew.
    deps.logger.error({ ...fields(served), action: 'record', err }, 'a generation was lost')
  }
}

async function run(deps: GenerateDeps, served: ServedRequest<GenerateRequest>): Promise<void> {
  const { bus, modelOf, logger, events, roster, stopped } = deps
  const { session, generation } = served.request
  const model = modelFor(modelOf, served.request)
  const cancel = new AbortController()
  const text = new GenerationText(generation)
  const done = events.generationStarted(model)
  using _listed = roster.add(generation)
  using _control = serveControl(bus, generation, () => {
    done.cancelRequested()
    cancel.abort()
  })
  using _snapshot = bus.serve(generationSnapshot, { generation }, ({ request: { offset } }) => ({
    deltas: text.since(offset),
  }))
  const result = await runGeneration(
    {
      model,
      text,
      readPrompt: (request) => readPrompt(bus.blobs, request),
      emit: (delta) => bus.emit(textDelta, { session, shard: shardOf(session) }, delta),
      onFailure: (err) =>
        logger.warn({ ...fields(served), action: 'fail', err }, 'generation failed'),
      onFirstText: () => done.firstText(),
    },
    served.request,
    { signal: AbortSignal.any([cancel.signal, stopped]) },
  )
  const { outcome, usage, error } = result
  done.ended(outcome)
  logger.info({ ...fields(served), action: 'end', outcome, usage, err: error }, 'generation ended')
  // The generation was stopped because this worker ends. Without a result, another worker begins it anew.
  if (outcome === 'cancelled' && !cancel.signal.aborted) return
  await record(deps, served, result)
}

/** An unknown model becomes a model that fails, so that the turn gets the error as a result. */
function modelFor(
  modelOf: GenerateDeps['modelOf'],
  { model: reference, avoid }: GenerateRequest,
): Model {
  try {
    return modelOf(reference, avoid)
  } catch (error) {
    const [provider = '', ...rest] = reference?.split('/') ?? []
    return {
      provider,
      model: rest.join('/'),
      countedAs: { provider: 'other', model: 'other' },
      stream: () => {
        throw error
      },
    }
  }
}

/** Stores the result in the log, then removes the prompt. */
async function record(
  { bus, logger }: GenerateDeps,
  served: ServedRequest<GenerateRequest>,
  result: GenerationResult,
): Promise<void> {
  const { session, generation, prompt } = served.request
  const append = (fact: GenerationResult): Promise<unknown> =>
    bus.sessions.append(
      session,
      { kind: 'generation', fact },
      {
        envelope: childEnvelope(served.envelope),
        messageId: `${generation}:${bus.id}`,
        patienceMs: 60_000,
      },
    )
  try {
    await append(result)
  } catch (error) {
    // The result is too large for the log, or not JSON. A failed result without content still ends the turn.
    if (!(error instanceof BusError) || error.code !== 'invalid') throw error
    await append({ ...result, outcome: 'failed', content: [], error: error.toInfo() })
  }
  if (prompt === undefined) return
  await bus.blobs.remove(prompt.key).catch((err: unknown) => {
    // The prompt expires later.
    logger.warn({ ...fields(served), action: 'remove', err }, 'a prompt was left in the store')
  })
}

function fields({ request, envelope }: ServedRequest<GenerateRequest>): Record<string, unknown> {
  return {
    ...requestFields(envelope),
    component: 'generation',
    sessionId: request.session,
    generation: request.generation,
  }
}

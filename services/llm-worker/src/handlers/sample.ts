import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { SampleReply, SampleRequest, Usage } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { requestFields } from '@mcp-host/service'
import type { WorkerEvents } from '../events.ts'
import type { Model, ModelRequest } from '../model.ts'
import { usageMeter } from '../usage.ts'
import { serveControl } from './serve-control.ts'

/** Limit for concurrent replies to servers; further requests are refused. */
const MAX_RUNNING = 32
/** The time limit when the caller has none. */
const LIMIT_MS = 120_000
/** The maximum size of a reply besides its text, so that it fits into one message, in UTF-16 units. */
const MAX_REPLY_LENGTH = 256 * 1024

export interface SampleDeps {
  readonly bus: Pick<Bus, 'id' | 'serve'>
  /** The model that answers. */
  readonly modelOf: (request: Pick<SampleRequest, 'model' | 'modelPreferences'>) => Model
  readonly logger: Logger
  readonly events: WorkerEvents
  /** Replies in flight, which draining waits for. */
  readonly running: Set<Promise<unknown>>
  /** Aborted when the worker ends. */
  readonly stopped: AbortSignal
}

/**
 * Gets a whole reply of the model for an MCP server. Throws `exhausted` when the worker has too many of them,
 * `deadline`, `cancelled`, `unavailable` when the worker ends, or the error of the model.
 */
export async function runSample(
  deps: SampleDeps,
  served: ServedRequest<SampleRequest>,
): Promise<SampleReply> {
  const { running } = deps
  if (running.size >= MAX_RUNNING) {
    throw new BusError('exhausted', 'the model has too much to do right now; try again later')
  }
  const reply = answer(deps, served)
  // Draining waits for the end of the reply, even for a failure.
  const end = reply.catch(() => undefined)
  running.add(end)
  try {
    return await reply
  } finally {
    running.delete(end)
  }
}

async function answer(
  { bus, modelOf, logger, events, stopped }: SampleDeps,
  { request, envelope, timeLeftMs = LIMIT_MS }: ServedRequest<SampleRequest>,
): Promise<SampleReply> {
  const late = AbortSignal.timeout(Math.max(0, Math.round(timeLeftMs)))
  const fields = { ...requestFields(envelope), component: 'sample' }
  const cancel = new AbortController()
  const model = modelOf(request)
  const done = events.generationStarted(model)
  const onCancel = (): void => {
    done.cancelRequested()
    cancel.abort()
  }
  using _control = request.id === undefined ? undefined : serveControl(bus, request.id, onCancel)
  const signal = AbortSignal.any([late, cancel.signal, stopped])
  try {
    const written = await write(model, request, signal, () => done.firstText())
    const { text, stopReason } = written
    done.ended('completed')
    logger.info({ ...fields, action: 'end', stopReason, length: text.length }, 'sample ended')
    const { model: answered, provider, usage } = written
    const content = { type: 'text' as const, text }
    return { model: answered, provider, usage, role: 'assistant', content, stopReason }
  } catch (err) {
    done.ended(cancel.signal.aborted ? 'cancelled' : 'failed')
    logger.warn({ ...fields, action: 'fail', err }, 'sample failed')
    if (cancel.signal.aborted) throw new BusError('cancelled', 'the reply was cancelled')
    if (late.aborted) throw new BusError('deadline', 'the model did not finish in time')
    if (stopped.aborted) throw new BusError('unavailable', 'the worker is stopping; try another')
    throw err
  }
}

interface Written {
  readonly text: string
  readonly stopReason: SampleReply['stopReason']
  readonly provider: string
  readonly model: string
  readonly usage: Usage
}

/** The text of the model until its end or the first limit. */
async function write(
  model: Model,
  request: SampleRequest,
  signal: AbortSignal,
  onFirstText: () => void,
): Promise<Written> {
  const { maxTokens, stopSequences = [] } = request
  let text = ''
  let thought = ''
  let pieces = 0
  let { provider, model: name } = model
  let counted: Usage | undefined
  const asked = toModelRequest(request)
  const meter = usageMeter(asked)
  const end = (written: string, stopReason: SampleReply['stopReason']): Written => ({
    text: written,
    stopReason,
    provider,
    model: name,
    // A model that is stopped early reports no usage.
    usage: counted ?? { ...meter.read(), isEstimate: true },
  })
  for await (const part of model.stream(asked, { signal })) {
    meter.add(part)
    if (part.type === 'answering') ({ provider, model: name } = part)
    if (part.type === 'end') counted = part.usage
    if (part.type === 'reasoning-delta') thought += part.text
    if (part.type === 'relabel') text = part.kind === 'text' ? thought : ''
    if (part.type !== 'text-delta' || part.text === '') continue
    if (text === '') onFirstText()
    const before = text.length
    text += part.text
    const stops = stopSequences
      .filter((stop) => stop !== '')
      .map((stop) => text.indexOf(stop, Math.max(0, before - stop.length)))
      .filter((at) => at >= 0)
    if (stops.length > 0) {
      return end(text.slice(0, Math.min(...stops)), 'stopSequence')
    }
    // A piece has at least one token, so this limit also holds for providers that do not count.
    if (++pieces >= maxTokens) return end(text, 'maxTokens')
    if (text.length >= MAX_REPLY_LENGTH) {
      const cut = text.slice(0, MAX_REPLY_LENGTH).toWellFormed()
      return end(cut, 'maxTokens')
    }
  }
  signal.throwIfAborted()
  return end(text, 'endTurn')
}

function toModelRequest({
  messages,
  systemPrompt,
  maxTokens,
  temperature,
  stopSequences,
}: SampleRequest): ModelRequest {
  return {
    messages: messages.map(({ role, content }) =>
      role === 'user' ? { role, text: content.text } : { role, content: [content] },
    ),
    tools: [],
    maxTokens,
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
  }
}

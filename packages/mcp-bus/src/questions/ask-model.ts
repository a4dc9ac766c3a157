import type { Bus } from '@mcp-host/bus'
import type {
  Envelope,
  GenerationId,
  ModelUsage,
  SampleReply,
  SampleRequest,
} from '@mcp-host/contracts'
import { addUsage, BusError, childEnvelope, generationControl, sample } from '@mcp-host/contracts'
import type { ServerRequest } from '@mcp-host/upstream'
import { sleep } from '@mcp-host/async'
import type { RunningCall } from '../tool-calls/running-calls.ts'

/** The time limit for a model's reply. */
const TIMEOUT_MS = 60_000
/** The limit for requests, which must fit into one message. */
const MAX_REQUEST_BYTES = 512 * 1024
const MAX_TOKENS = 100_000
const CANCEL_TIMEOUT_MS = 1_000
const CANCEL_RETRY_MS = 100

type Sampling = Extract<ServerRequest, { kind: 'sampling' }>

/** For whom a model is asked. */
export interface Asker {
  readonly envelope: Envelope
  /** Counts the tokens. */
  readonly usage: ModelUsage[]
  /** Aborts when nobody waits for the reply any more. */
  readonly over: AbortSignal
  /** The time limit, in milliseconds. */
  readonly limitMs: number
}

/**
 * Answers a sampling request by the host's model. Throws `invalid` for unreadable requests, and as `askForReply`. Its tokens
 * are counted for the call.
 */
export async function askModel(
  deps: { readonly bus: Bus },
  { envelope, usage, signal: callEnded }: RunningCall,
  { params, signal }: Sampling,
): Promise<Omit<SampleReply, 'provider' | 'usage'>> {
  const over = AbortSignal.any([signal, callEnded])
  const asker = { envelope, usage, over, limitMs: TIMEOUT_MS }
  const { provider: _, usage: __, ...answer } = await askForReply(deps, asker, toRequest(params))
  return answer
}

/**
 * Asks a worker for one whole reply. Throws `exhausted` for a request that is too large, `unavailable` without a model,
 * `cancelled` when nobody waits for it, `deadline`, or the model's error. A reply that nothing awaits is cancelled at its
 * worker.
 */
export async function askForReply(
  { bus }: { readonly bus: Bus },
  { envelope, usage: taken, over, limitMs }: Asker,
  request: SampleRequest,
): Promise<SampleReply> {
  const size = Buffer.byteLength(JSON.stringify(request))
  if (size > MAX_REQUEST_BYTES) {
    const message = `sampling: ${size} bytes, more than the ${MAX_REQUEST_BYTES} that can be asked`
    throw new BusError('exhausted', message)
  }
  const unwanted = new BusError('cancelled', 'nobody waits for this reply any more')
  if (over.aborted) throw unwanted
  const id = crypto.randomUUID() as GenerationId
  const options = { envelope: childEnvelope(envelope), timeoutMs: limitMs, expires: true }
  const reply = bus.call(sample, {}, { ...request, id }, options)
  const cancelled = Promise.withResolvers<never>()
  const onOver = (): void => {
    cancelled.reject(unwanted)
    void cancel(bus, envelope, id, reply)
  }
  over.addEventListener('abort', onOver)
  try {
    const answer = await Promise.race([cancelled.promise, reply])
    const { provider, model, usage } = answer
    if (provider !== undefined) addUsage(taken, { provider, model, usage })
    return answer
  } finally {
    over.removeEventListener('abort', onOver)
  }
}

/**
 * Repeats the cancellation until the worker answers or the reply has ended, since the worker may not have begun. Never
 * throws.
 */
async function cancel(
  bus: Bus,
  envelope: Envelope,
  generation: GenerationId,
  reply: Promise<unknown>,
): Promise<void> {
  let isOpen = true
  const onEnd = (): void => {
    isOpen = false
  }
  reply.then(onEnd, onEnd)
  while (isOpen) {
    const options = { envelope: childEnvelope(envelope), timeoutMs: CANCEL_TIMEOUT_MS }
    try {
      await bus.call(generationControl, { generation }, { action: 'cancel' }, options)
      return
    } catch {
      // An uncancelled model ends at its deadline.
      await sleep(CANCEL_RETRY_MS)
    }
  }
}

function toRequest(params: Sampling['params']): SampleRequest {
  if ('tools' in params && params.tools !== undefined) {
    throw new BusError('invalid', 'sampling: tools are not supported; leave them out')
  }
  const { systemPrompt, temperature, stopSequences, modelPreferences } = params
  const request = {
    messages: params.messages.map(({ role, content }) => ({ role, content: toText(content) })),
    maxTokens: Math.min(params.maxTokens, MAX_TOKENS),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(modelPreferences === undefined ? {} : { modelPreferences }),
  }
  const parsed = sample.request.safeParse(request)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'sampling')
  return parsed.data
}

function toText(content: Sampling['params']['messages'][number]['content']): {
  type: 'text'
  text: string
} {
  const blocks = Array.isArray(content) ? content : [content]
  const texts = blocks.map((block) => {
    if (block.type === 'text') return block.text
    const message = `sampling: ${block.type} is not supported; send text`
    throw new BusError('invalid', message, { field: 'messages' })
  })
  return { type: 'text', text: texts.join('\n') }
}

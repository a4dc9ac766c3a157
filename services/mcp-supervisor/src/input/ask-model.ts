import type { Bus } from '@mcp-host/bus'
import type { SampleReply, SampleRequest } from '@mcp-host/contracts'
import { BusError, childEnvelope, sample } from '@mcp-host/contracts'
import type { ServerRequest } from 'mcp-host'
import type { RunningCall } from './running-calls.ts'

/** A reply that takes longer nobody waits for. */
const TIMEOUT_MS = 60_000
/** Larger requests do not fit into one message. */
const MAX_REQUEST_BYTES = 512 * 1024
const MAX_TOKENS = 100_000

type Sampling = Extract<ServerRequest, { kind: 'sampling' }>

/**
 * Lets the host's model answer a server. Throws `invalid` for what it cannot read, `unavailable` when no
 * model can be reached, `cancelled` when the call ends, `deadline`, or what the model failed with.
 */
export async function askModel(
  { bus }: { readonly bus: Bus },
  { envelope, signal: callEnded }: RunningCall,
  { params, signal }: Sampling,
): Promise<SampleReply> {
  const request = toRequest(params)
  const over = AbortSignal.any([signal, callEnded])
  const cancelled = Promise.withResolvers<never>()
  const onOver = (): void =>
    cancelled.reject(new BusError('cancelled', 'nobody waits for this reply any more'))
  over.addEventListener('abort', onOver)
  if (over.aborted) onOver()
  try {
    const options = {
      envelope: childEnvelope(envelope, Date.now() + TIMEOUT_MS),
      timeoutMs: TIMEOUT_MS,
    }
    return await Promise.race([cancelled.promise, bus.call(sample, {}, request, options)])
  } finally {
    over.removeEventListener('abort', onOver)
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
  const size = Buffer.byteLength(JSON.stringify(parsed.data))
  if (size <= MAX_REQUEST_BYTES) return parsed.data
  const message = `sampling: ${size} bytes, more than the ${MAX_REQUEST_BYTES} that can be asked`
  throw new BusError('exhausted', message)
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

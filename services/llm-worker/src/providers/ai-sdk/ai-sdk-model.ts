import type {
  LanguageModelV4,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Model, ModelRequest, StreamPart } from '../../model.ts'
import { toBusError } from './error.ts'
import { toPrompt, toTools } from './prompt.ts'
import { toUsage } from './usage.ts'

/** Any provider package of the AI SDK as a model of ours. */
export function aiSdkModel(
  provider: string,
  language: LanguageModelV4,
  providerOptions: SharedV4ProviderOptions,
): Model {
  return {
    provider,
    model: language.modelId,
    async *stream(request: ModelRequest, { signal }): AsyncGenerator<StreamPart> {
      const tools = toTools(request.tools)
      const prompt: LanguageModelV4Prompt = toPrompt(request)
      try {
        const { stream } = await language.doStream({
          prompt,
          ...(tools.length === 0 ? {} : { tools }),
          abortSignal: signal,
          providerOptions,
        })
        for await (const part of stream) yield* toStreamParts(part)
      } catch (error) {
        signal.throwIfAborted()
        throw toBusError(provider, error)
      }
    },
  }
}

/** One part of the SDK as ours; most of the SDK's parts mean nothing to us. */
function* toStreamParts(part: LanguageModelV4StreamPart): Generator<StreamPart> {
  if (part.type === 'text-delta') yield { type: 'text-delta', text: part.delta }
  else if (part.type === 'reasoning-delta') yield { type: 'reasoning-delta', text: part.delta }
  else if (part.type === 'text-end' || part.type === 'reasoning-end') {
    yield { type: 'block-end', ...metadataOf(part) }
  } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
    yield { type: 'tool-call', name: part.toolName, arguments: part.input, ...metadataOf(part) }
  } else if (part.type === 'finish') yield { type: 'end', usage: toUsage(part.usage) }
  else if (part.type === 'error') throw part.error
}

function metadataOf({
  providerMetadata,
}: Pick<StreamPart & { type: 'block-end' }, 'providerMetadata'>) {
  return providerMetadata === undefined ? {} : { providerMetadata }
}

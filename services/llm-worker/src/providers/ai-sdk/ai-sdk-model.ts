import type {
  LanguageModelV4,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { BusError } from '@mcp-host/contracts'
import type { Model, ModelRequest, ProviderMetadata, StreamPart } from '../../model.ts'
import { toBusError } from './error.ts'
import { toPrompt, toTools } from './prompt.ts'
import { toUsage } from './usage.ts'

export interface AiSdkModelOptions {
  readonly contextWindow: number
  readonly providerOptions: SharedV4ProviderOptions
}

/** Any provider package of the AI SDK as a model of ours. */
export function aiSdkModel(
  provider: string,
  language: LanguageModelV4,
  { contextWindow, providerOptions }: AiSdkModelOptions,
): Model {
  return {
    provider,
    model: language.modelId,
    contextWindow,
    async *stream(request: ModelRequest, { signal }): AsyncGenerator<StreamPart> {
      const tools = toTools(request.tools)
      const prompt: LanguageModelV4Prompt = toPrompt(request)
      const { maxTokens, temperature, stopSequences } = request
      try {
        const { stream } = await language.doStream({
          prompt,
          ...(tools.length === 0 ? {} : { tools }),
          ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
          ...(temperature === undefined ? {} : { temperature }),
          ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
          abortSignal: signal,
          providerOptions,
        })
        const block: OpenBlock = {}
        for await (const part of stream) {
          if (part.type === 'finish' && part.finishReason.raw === undefined) {
            throw new BusError('unavailable', `${provider} broke off its answer`)
          }
          yield* toStreamParts(part, block)
        }
      } catch (error) {
        signal.throwIfAborted()
        throw toBusError(provider, error)
      }
    },
  }
}

/** The text or reasoning that is being written. Its metadata may come with any of its parts. */
interface OpenBlock {
  metadata?: ProviderMetadata
}

/** One part of the SDK as ours; most of the SDK's parts mean nothing to us. */
function* toStreamParts(part: LanguageModelV4StreamPart, block: OpenBlock): Generator<StreamPart> {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      if (part.providerMetadata !== undefined) block.metadata = part.providerMetadata
      yield { type: part.type, text: part.delta }
      return
    case 'text-end':
    case 'reasoning-end':
      yield { type: 'block-end', ...withMetadata(part.providerMetadata ?? block.metadata) }
      delete block.metadata
      return
    case 'tool-call':
      if (part.providerExecuted === true) return
      yield {
        type: 'tool-call',
        name: part.toolName,
        arguments: part.input,
        ...withMetadata(part.providerMetadata),
      }
      return
    case 'finish':
      yield { type: 'end', usage: toUsage(part.usage) }
      return
    case 'error':
      throw part.error
    default:
  }
}

function withMetadata(providerMetadata: ProviderMetadata | undefined) {
  return providerMetadata === undefined ? {} : { providerMetadata }
}

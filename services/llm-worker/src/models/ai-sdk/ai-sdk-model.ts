import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { UnsupportedFunctionalityError } from '@ai-sdk/provider'
import type { Media, PromptMessage } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { Model, ProviderMetadata, StreamPart } from '../../model.ts'
import { toBusError } from './error.ts'
import { canRead, hasFiles, label, withoutFiles } from './media.ts'
import { toPrompt } from './prompt.ts'
import { isRefusal, refusedTool, toTools } from './tools.ts'
import { toUsage } from './usage.ts'

/** Notices for answers that end early without an error. */
const STOPPED: Partial<Record<LanguageModelV4FinishReason['unified'], string>> = {
  length: 'the answer is as long as it may be',
  'content-filter': 'its content filter ended the answer',
}

/** Limit for tools that are left out after refusals; then the request counts as refused. */
const MAX_REFUSED = 5

export interface AiSdkModelOptions {
  readonly contextWindow: number
  /** The key of the provider's sealed data in the package's metadata. */
  readonly metadataName: string
  /** Prefixes of the MIME types that the provider reads, besides text. */
  readonly reads: readonly string[]
  /** The key of the provider, which is masked in its error texts. */
  readonly apiKey?: string
  readonly providerOptions?: SharedV4ProviderOptions
  /** The default for requests without `maxTokens`. */
  readonly maxOutputTokens?: number
  readonly temperature?: number
}

/** Adapts a provider package of the AI SDK to `Model`. */
export function aiSdkModel(
  provider: string,
  model: string,
  connect: () => Promise<LanguageModelV4>,
  { contextWindow, metadataName, reads, apiKey, ...defaults }: AiSdkModelOptions,
): Model {
  const refusals: Refusals = new Map()
  // Each answer awaits the connection and reports its failure, so a rejection is handled there.
  const connected = connect()
  connected.catch(() => undefined)
  return {
    provider,
    model,
    contextWindow,
    async *stream(request, { signal }): AsyncGenerator<StreamPart> {
      const { tools, leftOut } = toTools(request.tools)
      const { maxTokens, temperature, stopSequences } = request
      const options = {
        ...defaults,
        prompt: toPrompt(request, { own: metadataName, reads }),
        ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
        abortSignal: signal,
      }
      try {
        const language = await connected
        const { stream, refused, isWithoutFiles } = await start(language, options, tools, refusals)
        // Notices are sent with the first part, since the answer has not begun before it.
        const notices = [...leftOut, ...refused].map(
          ({ tool, reason }) => `${provider} does not get the tool ${tool}: ${reason}`,
        )
        if (isWithoutFiles) notices.push(`${provider} answers without the files, which it refuses`)
        for (const file of newFiles(request.messages)) {
          if (!canRead(file, reads)) notices.push(`${provider} cannot read the file ${label(file)}`)
        }
        const block: OpenBlock = {}
        let end: LanguageModelV4FinishReason | undefined
        for await (const part of stream) {
          if (part.type === 'finish') {
            end = part.finishReason
            if (isCut(end)) break
            const reason = STOPPED[end.unified]
            if (reason !== undefined) notices.push(`${provider} stopped before its end: ${reason}`)
          }
          for (const each of toStreamParts(part, block)) {
            for (const text of notices.splice(0)) yield { type: 'notice', text }
            yield each
          }
        }
        if (end === undefined || isCut(end)) {
          throw new BusError('unavailable', `${provider} broke off its answer`)
        }
      } catch (error) {
        signal.throwIfAborted()
        throw toBusError(provider, error, apiKey)
      }
    },
  }
}

/** Whether an answer broke off, which packages report like any other end. */
function isCut({ unified, raw }: LanguageModelV4FinishReason): boolean {
  const isSilent = unified === 'other' && raw === undefined
  return unified === 'interrupted' || unified === 'error' || isSilent
}

/** Whether a request may have been refused because of its files. */
function isForFiles(error: unknown): boolean {
  if (UnsupportedFunctionalityError.isInstance(error)) return true
  const { code, reason } = toBusError('', error)
  return isRefusal(error) && code === 'invalid' && reason === undefined
}

/** The files of the message to answer. */
function newFiles(messages: readonly PromptMessage[]): Media[] {
  const last = messages.at(-1)
  if (last?.role === 'user') return last.media ?? []
  return last?.role === 'tool' ? last.answers.flatMap(({ media }) => media ?? []) : []
}

interface Started extends LanguageModelV4StreamResult {
  readonly refused: readonly { readonly tool: string; readonly reason: string }[]
  readonly isWithoutFiles: boolean
}

/**
 * The schemas that a provider refused, as JSON by tool name. Such a tool is not offered again until its schema changes.
 */
type Refusals = Map<string, string>

/** Begins an answer, without the tools and files that the provider refuses. */
async function start(
  language: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  tools: readonly LanguageModelV4FunctionTool[],
  refusals: Refusals,
): Promise<Started> {
  let left = tools.filter(
    ({ name, inputSchema }) =>
      !refusals.has(name) || refusals.get(name) !== JSON.stringify(inputSchema),
  )
  const refusedNow: LanguageModelV4FunctionTool[] = []
  let { prompt } = options
  for (;;) {
    const isWithoutFiles = prompt !== options.prompt
    try {
      const offer = left.length === 0 ? {} : { tools: [...left] }
      const started = await language.doStream({ ...options, prompt, ...offer })
      // Refusals are remembered only after a request without these tools succeeded, which confirms their cause.
      for (const { name, inputSchema } of refusedNow) {
        refusals.set(name, JSON.stringify(inputSchema))
      }
      const refused = tools
        .filter((tool) => !left.includes(tool))
        .map(({ name }) => ({ tool: name, reason: 'the provider refuses its schema' }))
      return { ...started, refused, isWithoutFiles }
    } catch (error) {
      const faulty = refusedTool(error, left)
      if (faulty !== undefined && refusedNow.length < MAX_REFUSED) {
        refusedNow.push(faulty)
        left = left.filter((tool) => tool !== faulty)
      } else if (isForFiles(error) && !isWithoutFiles && hasFiles(prompt)) {
        // The provider does not list which models read images, and its error texts vary, so any such refusal is retried
        // once without files.
        prompt = withoutFiles(prompt)
      } else throw error
    }
  }
}

/** The current text or reasoning. Its metadata may come with any of its parts. */
interface OpenBlock {
  metadata?: ProviderMetadata
}

/** Converts one part of the SDK. Parts without a counterpart are dropped. */
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
    case 'tool-input-start':
    case 'tool-input-delta':
      yield { type: 'progress' }
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

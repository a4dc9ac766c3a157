import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { TypeValidationError } from '@ai-sdk/provider'
import type { Media } from '@mcp-host/contracts'
import { BusError, isText } from '@mcp-host/contracts'
import { splitArguments } from '../../json-tools/split-arguments.ts'
import type { Model, ProviderMetadata, StreamPart } from '../../model.ts'
import { estimateTokens } from '../../usage.ts'
import type { FailureContext } from './error.ts'
import { isUnexplained, toBusError } from './error.ts'
import { canRead, filesOf, label, withTrueTypes } from './media.ts'
import { toPrompt } from './prompt.ts'
import { failureIn } from '../../providers/definition/provider-failure.ts'
import type { Plan } from './refusals.ts'
import { Refusals } from './refusals.ts'
import { toTools } from './tools.ts'
import { toUsage } from './usage.ts'

/** Notices for answers that end early without an error. */
const STOPPED: Partial<Record<LanguageModelV4FinishReason['unified'], string>> = {
  length: 'the answer is as long as it may be',
  'content-filter': 'its content filter ended the answer',
}

/** Limit for the text, the reasoning and the arguments of tools of one answer together, in UTF-16 units. */
const MAX_ANSWER_LENGTH = 4 * 1024 * 1024

/** Limit for the refusals of one request after which another part of it is left out. */
const MAX_REFUSED = 8

/** From this share of the context window on, a refusal without a reason may be about the length. */
const LONG = 0.5

export interface AiSdkModelOptions {
  readonly contextWindow: number
  /** The key of the provider's sealed data in the package's metadata. */
  readonly metadataName: string
  /** Prefixes of the MIME types that the provider reads, besides text. */
  readonly reads: readonly string[]
  /** What its errors name. */
  readonly failureContext?: FailureContext
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
  { contextWindow, metadataName, reads, failureContext, ...defaults }: AiSdkModelOptions,
): Model {
  const refusals = new Refusals()
  // Each answer awaits the connection and reports its failure, so a rejection is handled there.
  const connected = connect()
  connected.catch(() => undefined)
  return {
    provider,
    model,
    contextWindow,
    async *stream(given, { signal }): AsyncGenerator<StreamPart> {
      const request = { ...given, messages: withTrueTypes(given.messages) }
      const { maxTokens, temperature, stopSequences } = request
      const options = {
        ...defaults,
        ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
        abortSignal: signal,
        // The packages pass on only the words of an error within a stream, not its codes.
        includeRawChunks: true,
      }
      try {
        const language = await connected
        const { tools, leftOut } = toTools(request.tools)
        // Text files, and those that the provider does not read, are sent as text.
        const files = request.messages
          .flatMap(filesOf)
          .filter((file) => canRead(file, reads) && !isText(file.mimeType))
        const { stream, plan } = await start(
          refusals,
          refusals.plan(tools, files),
          files,
          (tried) =>
            language.doStream({
              ...options,
              prompt: toPrompt(request, { own: metadataName, reads, ...tried }),
              ...(tried.tools.length === 0 ? {} : { tools: [...tried.tools] }),
            }),
        )
        const newFiles = filesOf(request.messages.at(-1))
        // Notices are sent with the first part, since the answer has not begun before it.
        const notices = [
          ...leftOut.map(
            ({ tool, reason }) => `${provider} does not get the tool ${tool}: ${reason}`,
          ),
          ...refusedNotices(provider, tools, newFiles, plan),
          ...newFiles
            .filter((file) => !canRead(file, reads))
            .map((file) => `${provider} cannot read the file ${label(file)}`),
        ]
        const block: OpenBlock = {}
        let end: LanguageModelV4FinishReason | undefined
        let length = 0
        for await (const part of stream) {
          if ('delta' in part) length += part.delta.length
          if (length > MAX_ANSWER_LENGTH) {
            const most = `more than ${MAX_ANSWER_LENGTH} characters`
            throw new BusError('invalid', `${provider} sent an answer of ${most}`)
          }
          if (part.type === 'raw') {
            const failure = failureIn(part.rawValue)
            if (failure !== undefined) throw failure
            continue
          }
          // Vendors add types of events at any time, and ask clients to pass over those that they do not know.
          if (part.type === 'error' && TypeValidationError.isInstance(part.error)) continue
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
        const failure = toBusError(provider, error, failureContext)
        const isLong = estimateTokens(request) > LONG * contextWindow
        if (!isLong || !isUnexplained(error)) throw failure
        const message = `${failure.message}, without a reason; the conversation may be too long for it`
        throw new BusError('invalid', message, { reason: 'context-overflow', cause: error })
      }
    },
  }
}

/** Whether an answer broke off, which packages report like any other end. */
function isCut({ unified, raw }: LanguageModelV4FinishReason): boolean {
  const isSilent = unified === 'other' && raw === undefined
  return unified === 'interrupted' || unified === 'error' || isSilent
}

/** Begins an answer, without the parts of the request that the provider refuses. */
async function start(
  refusals: Refusals,
  first: Plan,
  files: readonly Media[],
  ask: (plan: Plan) => PromiseLike<LanguageModelV4StreamResult>,
): Promise<LanguageModelV4StreamResult & { readonly plan: Plan }> {
  let plan = first
  for (let refused = 0; ; refused++) {
    try {
      const started = await ask(plan)
      refusals.accept(plan, files)
      return { ...started, plan }
    } catch (error) {
      const next = refusals.next(plan, error)
      if (next === undefined || refused >= MAX_REFUSED) throw error
      plan = next
    }
  }
}

/** Tells the user what the model does not get of a request, since the provider refuses it. */
function refusedNotices(
  provider: string,
  tools: readonly { readonly name: string }[],
  newFiles: readonly Media[],
  plan: Plan,
): string[] {
  const offered = new Set(plan.tools.map(({ name }) => name))
  const left = tools.flatMap(({ name }) => (offered.has(name) ? [] : [name]))
  const files = newFiles.filter((file) => plan.hidden.has(file)).map(label)
  const about: string[] = []
  if (left.length > 0 && plan.isToolless) {
    about.push(`${provider} answers without tools, which this model does not support`)
  } else if (left.length === 1) {
    about.push(`${provider} does not get the tool ${left[0]}: the provider refuses its schema`)
  } else if (left.length > 1) {
    about.push(
      `${provider} does not get the tools ${left.join(', ')}: the provider refuses their schemas`,
    )
  }
  if (files.length > 0) {
    about.push(`${provider} answers without ${files.join(', ')}: it refuses that`)
  }
  return about
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
      for (const json of splitArguments(part.input)) {
        yield {
          type: 'tool-call',
          name: part.toolName,
          arguments: json,
          ...withMetadata(part.providerMetadata),
        }
      }
      return
    case 'finish':
      yield {
        type: 'end',
        usage: toUsage(part.usage),
        ...(STOPPED[part.finishReason.unified] === undefined ? {} : { isCut: true }),
      }
      return
    case 'error':
      throw part.error
    default:
  }
}

function withMetadata(providerMetadata: ProviderMetadata | undefined) {
  return providerMetadata === undefined ? {} : { providerMetadata }
}

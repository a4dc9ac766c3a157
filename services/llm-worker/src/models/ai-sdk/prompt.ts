import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ContentBlock, PromptMessage, ToolAnswer } from '@mcp-host/contracts'
import { ownValue } from '@mcp-host/contracts'
import type { ModelRequest } from '../../model.ts'
import { toFilePart } from './media.ts'

/** The kinds of content that a provider reads. */
export interface PromptRules {
  /** The key of this provider's sealed data in the metadata of a block. */
  readonly own: string
  /** Prefixes of the MIME types that the provider reads. */
  readonly reads: readonly string[]
}

/** Converts the conversation for the SDK. */
export function toPrompt(
  { system, messages }: Pick<ModelRequest, 'system' | 'messages'>,
  rules: PromptRules,
): LanguageModelV4Prompt {
  const prompt = messages
    .flatMap((message) => toMessages(message, rules))
    // A message is empty when all its content was sealed by other providers.
    .filter(({ role, content }) => role !== 'assistant' || content.length > 0)
  return system === undefined ? prompt : [{ role: 'system', content: system }, ...prompt]
}

function toMessages(message: PromptMessage, rules: PromptRules): LanguageModelV4Message[] {
  switch (message.role) {
    case 'user': {
      const files = (message.media ?? []).map((file) => toFilePart(file, rules.reads))
      return [{ role: 'user', content: [{ type: 'text', text: message.text }, ...files] }]
    }
    case 'assistant': {
      const content = message.content.flatMap((block) => toPart(block, rules.own))
      return [{ role: 'assistant', content }]
    }
    case 'tool': {
      const results = message.answers.map(({ call, name, text, isError }) => ({
        type: 'tool-result' as const,
        toolCallId: call,
        toolName: name,
        output: { type: isError ? ('error-text' as const) : ('text' as const), value: text },
      }))
      return [{ role: 'tool', content: results }, ...toolFiles(message.answers, rules)]
    }
    default:
      return message satisfies never
  }
}

/**
 * Moves the files of tool results into a user message after them, since half of the providers accept no files in
 * results.
 */
function toolFiles(
  answers: readonly ToolAnswer[],
  { reads }: PromptRules,
): LanguageModelV4Message[] {
  const content = answers.flatMap(({ name, media = [] }) =>
    media.length === 0
      ? []
      : [
          { type: 'text' as const, text: `[What the tool ${name} returned beside its text:]` },
          ...media.map((file) => toFilePart(file, reads)),
        ],
  )
  return content.length === 0 ? [] : [{ role: 'user', content }]
}

type AssistantPart = (LanguageModelV4Message & { role: 'assistant' })['content'][number]

function toPart(block: ContentBlock, own: string): AssistantPart[] {
  // Sealed data, such as thought signatures, goes back unchanged. Data of other providers is left out, since a provider
  // may refuse it.
  const sealed = ownValue(block.providerMetadata ?? {}, own)
  const back = sealed === undefined ? {} : { providerOptions: { [own]: sealed } }
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, ...back }]
    case 'reasoning':
      return sealed === undefined ? [] : [{ type: 'reasoning', text: block.text, ...back }]
    case 'tool-call': {
      const { id, name, arguments: given } = block
      // Providers require an object, even when the model wrote invalid arguments.
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
      const input = isObject ? given : { rawInvalidInput: given }
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input, ...back }]
    }
    default:
      return block satisfies never
  }
}

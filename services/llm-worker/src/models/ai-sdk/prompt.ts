import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ContentBlock, PromptMessage, ToolAnswer } from '@mcp-host/contracts'
import { ownValue } from '@mcp-host/contracts'
import { cleanName } from '@mcp-host/mcp'
import type { ModelRequest } from '../../model.ts'
import type { FileRules } from './media.ts'
import { toFilePart } from './media.ts'

/** How a provider wants its prompt. */
export interface PromptRules extends FileRules {
  /** The key of this provider's sealed data in the metadata of a block. */
  readonly own: string
  /** Whether an answer of the model must stand between the result of a tool and a message of the user. */
  readonly isAlternating: boolean
  /** Whether reasoning without a seal is sent back, as text. */
  readonly isWithReasoning: boolean
}

type UserMessage = LanguageModelV4Message & { role: 'user' }
type AssistantPart = (LanguageModelV4Message & { role: 'assistant' })['content'][number]

/** Stands between the result of a tool and a message of the user, for models that require an answer there. */
const FILLER = '(I have read the result.)'

/** Converts the conversation for the SDK. */
export function toPrompt(
  { system, messages }: Pick<ModelRequest, 'system' | 'messages'>,
  rules: PromptRules,
): LanguageModelV4Prompt {
  const callId = shortIds()
  const prompt: LanguageModelV4Prompt = []
  if (system !== undefined) prompt.push({ role: 'system', content: system })
  for (const next of messages.flatMap((message) => toMessages(message, callId, rules))) {
    const last = prompt.at(-1)
    // An answer is empty when it failed, or when all its content was sealed by other providers.
    if (next.role === 'assistant' && next.content.length === 0) continue
    if (next.role === 'user' && last?.role === 'user') {
      prompt[prompt.length - 1] = joined(last, next)
    } else if (next.role === 'assistant' && last?.role === 'assistant') {
      last.content.push(...next.content)
    } else {
      if (rules.isAlternating && next.role === 'user' && last?.role === 'tool') {
        prompt.push({ role: 'assistant', content: [{ type: 'text', text: FILLER }] })
      }
      prompt.push(next)
    }
  }
  return prompt
}

/**
 * Short ids of tool calls, in the order of the conversation: Mistral takes nine letters and digits only. The same
 * conversation has the same ids, so that the provider's prompt cache matches.
 */
function shortIds(): (id: string) => string {
  const ids = new Map<string, string>()
  return (id) => {
    const known = ids.get(id) ?? `c${String(ids.size + 1).padStart(8, '0')}`
    ids.set(id, known)
    return known
  }
}

/** Joins two messages of the user, since strict chat templates require user and model to take turns. */
function joined(one: UserMessage, other: UserMessage): UserMessage {
  const content: UserMessage['content'] = [...one.content]
  for (const part of other.content) {
    const last = content.at(-1)
    // Some servers accept text only as one text.
    if (part.type === 'text' && last?.type === 'text') {
      content[content.length - 1] = { ...last, text: `${last.text}\n\n${part.text}` }
    } else content.push(part)
  }
  return { role: 'user', content }
}

function toMessages(
  message: PromptMessage,
  callId: (id: string) => string,
  rules: PromptRules,
): LanguageModelV4Message[] {
  switch (message.role) {
    case 'user': {
      const files = (message.media ?? []).map((file) => toFilePart(file, rules))
      // Providers refuse an empty text.
      const isBlank = message.text.trim() === '' && files.length > 0
      const text = isBlank ? [] : [{ type: 'text' as const, text: message.text }]
      return [{ role: 'user', content: [...text, ...files] }]
    }
    case 'assistant': {
      const content = message.content.flatMap((block) => toPart(block, callId, rules))
      return [{ role: 'assistant', content }]
    }
    case 'tool': {
      const results = message.answers.map(({ call, name, text, isError }) => ({
        type: 'tool-result' as const,
        toolCallId: callId(call),
        toolName: cleanName(name),
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
function toolFiles(answers: readonly ToolAnswer[], rules: PromptRules): UserMessage[] {
  const content = answers.flatMap(({ name, media = [] }) =>
    media.length === 0
      ? []
      : [
          { type: 'text' as const, text: `[What the tool ${name} returned beside its text:]` },
          ...media.map((file) => toFilePart(file, rules)),
        ],
  )
  return content.length === 0
    ? []
    : [joined({ role: 'user', content: [] }, { role: 'user', content })]
}

function toPart(
  block: ContentBlock,
  callId: (id: string) => string,
  { own, isWithReasoning }: PromptRules,
): AssistantPart[] {
  // Sealed data, such as thought signatures, goes back unchanged. Data of other providers is left out, since a provider
  // may refuse it.
  const sealed = ownValue(block.providerMetadata ?? {}, own)
  const back = sealed === undefined ? {} : { providerOptions: { [own]: sealed } }
  switch (block.type) {
    case 'text':
      // Claude refuses text of spaces alone, which models write before a call.
      if (sealed === undefined && block.text.trim() === '') return []
      return [{ type: 'text', text: block.text, ...back }]
    case 'reasoning':
      if (sealed === undefined && !isWithReasoning) return []
      return [{ type: 'reasoning', text: block.text, ...back }]
    case 'tool-call': {
      const { id, name, arguments: given } = block
      // The model may have made up the name. Providers require an object, even when the model wrote invalid arguments.
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
      const input = isObject ? given : { rawInvalidInput: given }
      return [
        { type: 'tool-call', toolCallId: callId(id), toolName: cleanName(name), input, ...back },
      ]
    }
    default:
      return block satisfies never
  }
}

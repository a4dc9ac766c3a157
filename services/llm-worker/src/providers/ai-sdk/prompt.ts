import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ContentBlock, PromptMessage } from '@mcp-host/contracts'
import type { ModelRequest } from '../../model.ts'

export function toPrompt({ system, messages }: ModelRequest): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = messages.map(toMessage)
  return system === undefined ? prompt : [{ role: 'system', content: system }, ...prompt]
}

function toMessage(message: PromptMessage): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] }
    case 'assistant':
      return { role: 'assistant', content: message.content.map(toPart) }
    case 'tool':
      return {
        role: 'tool',
        content: message.answers.map(({ call, name, text, isError }) => ({
          type: 'tool-result',
          toolCallId: call,
          toolName: name,
          output: { type: isError ? 'error-text' : 'text', value: text },
        })),
      }
    default:
      return message satisfies never
  }
}

type AssistantPart = (LanguageModelV4Message & { role: 'assistant' })['content'][number]

function toPart(block: ContentBlock): AssistantPart {
  // Sent back as it came: thought signatures and the like.
  const back =
    block.providerMetadata === undefined ? {} : { providerOptions: block.providerMetadata }
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, text: block.text, ...back }
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: block.id,
        toolName: block.name,
        input: block.arguments,
        ...back,
      }
    default:
      return block satisfies never
  }
}

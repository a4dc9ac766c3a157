import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ContentBlock, PromptMessage } from '@mcp-host/contracts'
import type { ModelRequest } from '../../model.ts'

/** The conversation as the SDK wants it. `own`: under that name stands what the provider itself sealed. */
export function toPrompt({ system, messages }: ModelRequest, own: string): LanguageModelV4Prompt {
  const prompt = messages
    .map((message) => toMessage(message, own))
    // All of it may have been for somebody else.
    .filter(({ role, content }) => role !== 'assistant' || content.length > 0)
  return system === undefined ? prompt : [{ role: 'system', content: system }, ...prompt]
}

function toMessage(message: PromptMessage, own: string): LanguageModelV4Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] }
    case 'assistant':
      return { role: 'assistant', content: message.content.flatMap((block) => toPart(block, own)) }
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

function toPart(block: ContentBlock, own: string): AssistantPart[] {
  // Sent back as it came: thought signatures and the like. Others may refuse what they did not seal.
  const sealed = block.providerMetadata?.[own]
  const back = sealed === undefined ? {} : { providerOptions: { [own]: sealed } }
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, ...back }]
    case 'reasoning':
      return sealed === undefined ? [] : [{ type: 'reasoning', text: block.text, ...back }]
    case 'tool-call': {
      const { id, name, arguments: given } = block
      // Providers want an object, also for what the model wrote wrongly.
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
      const input = isObject ? given : { rawInvalidInput: given }
      return [{ type: 'tool-call', toolCallId: id, toolName: name, input, ...back }]
    }
    default:
      return block satisfies never
  }
}

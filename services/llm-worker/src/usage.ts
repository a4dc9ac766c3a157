import type { Media, Usage } from '@mcp-host/contracts'
import { isText } from '@mcp-host/contracts'
import type { ModelRequest, StreamPart } from './model.ts'

const CHARACTERS_PER_TOKEN = 4

/** Estimates the usage of a reply: a token per four characters. */
export interface UsageMeter {
  add(part: StreamPart): void
  read(): Usage
}

/** Estimates the tokens of a request. */
export function estimateTokens(request: ModelRequest): number {
  return tokens(inputCharacters(request))
}

export function usageMeter(request: ModelRequest): UsageMeter {
  let output = 0
  let reasoning = 0
  return {
    add(part) {
      if (part.type === 'text-delta') output += part.text.length
      if (part.type === 'tool-call') output += part.name.length + part.arguments.length
      if (part.type === 'reasoning-delta') reasoning += part.text.length
    },
    read: () => ({
      inputTokens: estimateTokens(request),
      outputTokens: tokens(output + reasoning),
      ...(reasoning === 0 ? {} : { reasoningTokens: tokens(reasoning) }),
    }),
  }
}

function inputCharacters({ system, messages, tools }: ModelRequest): number {
  let count = system?.length ?? 0
  for (const message of messages) {
    if (message.role === 'user') count += written(message)
    else if (message.role === 'tool') for (const answer of message.answers) count += written(answer)
    else {
      for (const block of message.content) {
        if (block.type === 'tool-call') count += JSON.stringify(block.arguments).length
        else count += block.text.length
      }
    }
  }
  for (const { safeName, description, inputSchema } of tools) {
    count += safeName.length + (description?.length ?? 0) + JSON.stringify(inputSchema).length
  }
  return count
}

/** The length of a message with the text files that become part of it. */
function written({ text, media = [] }: { text: string; media?: Media[] | undefined }): number {
  const files = media.filter(({ mimeType }) => isText(mimeType))
  return files.reduce((sum, { data = '' }) => sum + data.length * 0.75, text.length)
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

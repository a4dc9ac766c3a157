import type { Media, PromptMessage, ToolAnswer } from '@mcp-host/contracts'

/** The last user message of a conversation, with the tool answers since. */
export interface DemoTurn {
  readonly text: string
  readonly files: readonly Media[]
  /** One entry for each message of tool answers since the last user message, oldest first. */
  readonly rounds: readonly (readonly ToolAnswer[])[]
}

export function readTurn(messages: readonly PromptMessage[]): DemoTurn {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[at]
  const { text, media = [] } = message?.role === 'user' ? message : { text: '' }
  return {
    text,
    files: media,
    rounds: messages.slice(at + 1).flatMap((each) => (each.role === 'tool' ? [each.answers] : [])),
  }
}

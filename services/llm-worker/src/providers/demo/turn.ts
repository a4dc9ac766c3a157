import type { PromptMessage, ToolAnswer } from '@mcp-host/contracts'

/** What the demo model sees of a conversation: the last user message and what came of it. */
export interface DemoTurn {
  readonly text: string
  /** One entry per message of tool answers since the user spoke, oldest first. */
  readonly rounds: readonly (readonly ToolAnswer[])[]
}

export function readTurn(messages: readonly PromptMessage[]): DemoTurn {
  let text = ''
  let rounds: (readonly ToolAnswer[])[] = []
  for (const message of messages) {
    if (message.role === 'user') {
      text = message.text
      rounds = []
    } else if (message.role === 'tool') {
      rounds.push(message.answers)
    }
  }
  return { text, rounds }
}

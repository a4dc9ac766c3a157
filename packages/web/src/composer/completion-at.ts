/** A word that the user writes to choose something of an MCP server. */
export interface Completion {
  readonly kind: 'prompt' | 'resource'
  /** What follows the sign. */
  readonly word: string
  /** Where the sign is in the text. */
  readonly start: number
}

/** The completion that the text before the caret asks for: `/` at its beginning, or `@` at the beginning of a word. */
export function completionAt(text: string, caret: number): Completion | undefined {
  const before = text.slice(0, caret)
  const [, command] = /^\/(\S*)$/.exec(before) ?? []
  if (command !== undefined) return { kind: 'prompt', word: command, start: 0 }
  const [, name] = /(?:^|\s)@(\S*)$/.exec(before) ?? []
  if (name === undefined) return undefined
  return { kind: 'resource', word: name, start: caret - name.length - 1 }
}

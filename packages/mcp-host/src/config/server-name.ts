/** Names that the host's own built-in servers have. */
const RESERVED: readonly string[] = ['llm', 'sessions', 'prompts', 'agent', 'files']

/** What is wrong with a server's name; undefined when nothing is. */
export function checkServerName(name: string): { message: string; remedy: string } | undefined {
  // Without dots, `{server}.{tool}` has one meaning.
  if (!/^[A-Za-z0-9_-]+$/.test(name)) {
    return {
      message: 'is not a valid server name',
      remedy: 'Use letters, digits, "_" and "-" only.',
    }
  }
  if (RESERVED.includes(name)) {
    return {
      message: 'is a reserved server name',
      remedy: `Choose another: ${RESERVED.join(', ')} are built in.`,
    }
  }
  return undefined
}

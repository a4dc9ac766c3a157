/**
 * What is wrong with a server's name; undefined when nothing is. `reserved` are names that servers
 * built into the host have.
 */
export function checkServerName(
  name: string,
  reserved: readonly string[] = [],
): { message: string; remedy: string } | undefined {
  // Without dots, `{server}.{tool}` has one meaning.
  if (!/^(?!__proto__$)[A-Za-z0-9_-]+$/.test(name)) {
    return {
      message: 'is not a valid server name',
      remedy: 'Use letters, digits, "_" and "-" only.',
    }
  }
  if (reserved.includes(name)) {
    return {
      message: 'is a reserved server name',
      remedy: `Choose another: ${reserved.join(', ')} are built in.`,
    }
  }
  return undefined
}

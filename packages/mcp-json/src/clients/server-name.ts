/** The limit for server names, which become parts of bus subjects, keys and URIs. */
export const MAX_SERVER_NAME_LENGTH = 64

export const SERVER_NAME_REMEDY = `Use at most ${MAX_SERVER_NAME_LENGTH} letters, digits, "_" and "-".`

const SERVER_NAME = new RegExp(`^(?!__proto__$)[A-Za-z0-9_-]{1,${MAX_SERVER_NAME_LENGTH}}$`)

/** The fault of a server's name; undefined when it is valid. `reserved` are names of built-in servers. */
export function checkServerName(
  name: string,
  reserved: readonly string[] = [],
): { message: string; remedy: string } | undefined {
  // Dots are not allowed, so that `{server}.{tool}` is unambiguous.
  if (!SERVER_NAME.test(name)) {
    return { message: 'is not a valid server name', remedy: SERVER_NAME_REMEDY }
  }
  if (!reserved.includes(name)) return undefined
  const remedy = `Choose another: ${reserved.join(', ')} are built in.`
  return { message: 'is a reserved server name', remedy }
}

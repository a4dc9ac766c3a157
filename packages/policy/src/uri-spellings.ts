const ESCAPES = /(?:%[0-9a-f]{2})+/gi
/** `file:/x`, `file:///x` and `file://localhost/x` are one file. */
const LOCAL_FILE = /^file:(?:\/\/(?:localhost)?)?(?=\/(?!\/))/i
const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/**
 * A URI as it is written, and as most servers understand it if that differs: with the characters that it escapes, and
 * without `.`, `..` and empty parts of its path.
 */
export function uriSpellings(uri: string): readonly string[] {
  const plain = withoutDots(
    decoded(uri)
      .replace(LOCAL_FILE, 'file://')
      .replace(SCHEME, (scheme) => scheme.toLowerCase()),
  )
  return plain === uri ? [uri] : [uri, plain]
}

function decoded(uri: string): string {
  return uri.replaceAll(ESCAPES, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      // They are no UTF-8, so they stay as they are.
      return escapes
    }
  })
}

function withoutDots(uri: string): string {
  const parts = uri.split('/')
  // The parts before the path: `scheme:`, an empty one and the host.
  const start = uri.includes('://') ? 3 : 1
  const path: string[] = []
  for (const part of parts.slice(start, -1)) {
    if (part === '..') path.pop()
    else if (part !== '.' && part !== '') path.push(part)
  }
  const last = parts.length > start ? parts.at(-1) : undefined
  if (last === '..') path.pop()
  const end = last === undefined ? [] : [last === '..' || last === '.' ? '' : last]
  return [...parts.slice(0, start), ...path, ...end].join('/')
}

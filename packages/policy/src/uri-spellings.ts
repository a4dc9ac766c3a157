const ESCAPES = /(?:%[0-9a-f]{2})+/gi
/** `file:/x`, `file:///x` and `file://localhost/x` are one file. */
const LOCAL_FILE = /^file:(?:\/\/(?:localhost)?)?(?=\/(?!\/))/i
const FILE_HOST = /^file:\/\/[^/]+(?=\/)/
const SCHEME = /^[a-z][a-z0-9+.-]*:/i
const CONTROLS = /\p{Cc}/gu

/**
 * A URI as it is written, and as servers understand it if that differs: with the characters that it escapes, without
 * `.`, `..` and empty parts of its path, without control characters and outer spaces, with slashes for backslashes, and
 * as the URL that Node reads in it.
 */
export function uriSpellings(uri: string): readonly string[] {
  const visible = uri.replaceAll(CONTROLS, '').trim()
  const slashed = decoded(visible).replaceAll('\\', '/')
  const read = [uri, visible, hrefOf(visible), slashed, hrefOf(slashed)]
  return [...new Set([uri, ...read.map(plainUri)])]
}

/** The spellings in which a URI is denied: servers may also ignore the host of a file. */
export function deniedSpellings(uri: string): readonly string[] {
  const spellings = uriSpellings(uri)
  return [...spellings, ...spellings.map((each) => each.replace(FILE_HOST, 'file://'))]
}

function plainUri(uri: string): string {
  return withoutDots(
    decoded(uri)
      .replace(LOCAL_FILE, 'file://')
      .replace(SCHEME, (scheme) => scheme.toLowerCase()),
  )
}

function hrefOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri
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

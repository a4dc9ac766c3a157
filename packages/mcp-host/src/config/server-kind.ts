import type { ServerConfig } from './mcp-config.ts'

const KINDS: ReadonlyMap<unknown, ServerConfig['type']> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'sse'],
  ['websocket', 'websocket'],
  ['ws', 'websocket'],
])

/** The transport of an entry; for a faulty entry, the one that its author most likely meant. */
export function serverKind(entry: Readonly<Record<string, unknown>>): ServerConfig['type'] {
  const { type, transport, command, url = urlOfInstance(entry) } = entry
  if (type === 'local') return 'stdio'
  const named = KINDS.get(type)
  if (named !== undefined) return named
  const carried = KINDS.get(transport)
  if (carried !== undefined && !(type === 'remote' && carried === 'stdio')) return carried
  if (type !== 'remote' && (command !== undefined || url === undefined)) return 'stdio'
  return typeof url === 'string' && /^wss?:/i.test(url) ? 'websocket' : 'http'
}

/**
 * Whether an entry of a server over HTTP leaves open which of the two transports it speaks: it names
 * none, or its address is one that servers of HTTP+SSE have.
 */
export function mayBeSse({ type, transport, url }: Readonly<Record<string, unknown>>): boolean {
  if (KINDS.get(type) === undefined && KINDS.get(transport) === undefined) return true
  return typeof url === 'string' && URL.canParse(url) && new URL(url).pathname.endsWith('/sse')
}

/** One that has addresses in its instances alone is a remote one without its own. */
function urlOfInstance({ instances }: Readonly<Record<string, unknown>>): unknown {
  const [first]: unknown[] = Array.isArray(instances) ? instances : []
  return typeof first === 'object' && first !== null && 'url' in first ? first.url : undefined
}

/** Whether `type` and `transport` name two ways at once. */
export function isContradiction({ type, transport }: Readonly<Record<string, unknown>>): boolean {
  const [one, other] = [KINDS.get(type), KINDS.get(transport)]
  return one !== undefined && other !== undefined && one !== other
}

import type { ServerConfig } from '@mcp-host/upstream'

const KINDS: ReadonlyMap<unknown, ServerConfig['type']> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['sse', 'sse'],
  ['websocket', 'websocket'],
  ['ws', 'websocket'],
])

/** The transport of an entry; for a faulty entry, the most likely one. */
export function serverKind(entry: Readonly<Record<string, unknown>>): ServerConfig['type'] {
  const { type, transport, command, url = urlOfInstance(entry) } = entry
  if (type === 'local') return 'stdio'
  const named = KINDS.get(type)
  if (named !== undefined) return named
  const byTransport = KINDS.get(transport)
  const isLocal = byTransport === 'stdio'
  if (byTransport !== undefined && !(type === 'remote' && isLocal)) return byTransport
  if (type !== 'remote' && (command !== undefined || url === undefined)) return 'stdio'
  return typeof url === 'string' && /^wss?:/i.test(url) ? 'websocket' : 'http'
}

/** Whether the server of an HTTP entry may speak HTTP+SSE: the entry names no transport, or the URL ends in `/sse`. */
export function mayBeSse({ type, transport, url }: Readonly<Record<string, unknown>>): boolean {
  if (KINDS.get(type) === undefined && KINDS.get(transport) === undefined) return true
  return typeof url === 'string' && URL.canParse(url) && new URL(url).pathname.endsWith('/sse')
}

/** The URL of the first instance, which shows that a faulty entry without a URL is remote. */
function urlOfInstance({ instances }: Readonly<Record<string, unknown>>): unknown {
  const [first]: unknown[] = Array.isArray(instances) ? instances : []
  return typeof first === 'object' && first !== null && 'url' in first ? first.url : undefined
}

/** Whether `type` and `transport` name different transports. */
export function isContradiction({ type, transport }: Readonly<Record<string, unknown>>): boolean {
  const [byType, byTransport] = [KINDS.get(type), KINDS.get(transport)]
  return byType !== undefined && byTransport !== undefined && byType !== byTransport
}

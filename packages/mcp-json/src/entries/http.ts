import type * as z from 'zod'

import type { RemoteServerConfig } from '@mcp-host/upstream'
import type { EntryKind } from './entry-kind.ts'
import { REMOTE_REMEDY, remoteEntry, remoteObject, toRemoteConfig } from './remote.ts'

export const HTTP_SCHEMES = ['http', 'https'] as const

/** Entries of `http` and `sse` servers, between which an address alone decides nothing. */
export const HttpEntry = remoteEntry(HTTP_SCHEMES, {
  types: ['http', 'streamable-http', 'sse'],
  transports: ['http', 'streamable-http', 'sse'],
}).meta({ id: 'HttpServer' })

/** Streamable HTTP. */
export const http: EntryKind<RemoteServerConfig, typeof HttpEntry> = {
  names: ['http', 'streamable-http'],
  spellings: [
    'https',
    'streamable',
    'streaminghttp',
    'httpstream',
    'httpstreaming',
    'httpstreamable',
  ],
  remedy: REMOTE_REMEDY,
  entry: HttpEntry,
  object: remoteObject(HTTP_SCHEMES),
  toConfig: (entry, context) => ({
    ...toRemoteConfig('http', entry, context),
    ...(mayBeSse(entry) ? { fallback: 'sse' } : {}),
  }),
}

/** Whether the server of an HTTP entry may speak HTTP+SSE: the entry names no transport, or the URL ends in `/sse`. */
function mayBeSse({ type, transport, url }: z.infer<typeof HttpEntry>): boolean {
  const isNamed = (type !== undefined && type !== 'remote') || transport !== undefined
  if (!isNamed) return true
  return URL.canParse(url) && new URL(url).pathname.endsWith('/sse')
}

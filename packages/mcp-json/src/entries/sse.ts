import type { RemoteServerConfig } from '@mcp-host/upstream'
import type { EntryKind } from './entry-kind.ts'
import { HTTP_SCHEMES, HttpEntry } from './http.ts'
import { REMOTE_REMEDY, remoteObject, toRemoteConfig } from './remote.ts'

/** HTTP+SSE, the transport before 2025-03-26. */
export const sse: EntryKind<RemoteServerConfig, typeof HttpEntry> = {
  names: ['sse'],
  spellings: ['httpsse'],
  remedy: REMOTE_REMEDY,
  entry: HttpEntry,
  object: remoteObject(HTTP_SCHEMES),
  toConfig: (entry, context) => toRemoteConfig('sse', entry, context),
}

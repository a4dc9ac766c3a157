import type { RemoteServerConfig } from '@mcp-host/upstream'
import type { EntryKind } from './entry-kind.ts'
import { REMOTE_REMEDY, remoteEntry, remoteObject, toRemoteConfig } from './remote.ts'

const SCHEMES = ['ws', 'wss'] as const
const Entry = remoteEntry(SCHEMES, {
  types: ['websocket', 'ws'],
  transports: ['websocket', 'ws'],
}).meta({ id: 'WebSocketServer' })

/** A WebSocket, which the protocol does not have, but some servers do. */
export const websocket: EntryKind<RemoteServerConfig, typeof Entry> = {
  names: ['websocket', 'ws'],
  spellings: ['websockets', 'wss'],
  remedy: REMOTE_REMEDY,
  entry: Entry,
  object: remoteObject(SCHEMES),
  toConfig: (entry, context) => toRemoteConfig('websocket', entry, context),
}

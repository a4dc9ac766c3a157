import { authProviderOf } from '../auth/index.ts'
import { remote } from './remote.ts'
import { WebSocketTransport } from './websocket-transport.ts'

/** A WebSocket, which the protocol does not have, but some servers do. */
export const websocket = remote(
  'WebSocket',
  (deps, { url, headers, auth }) =>
    new WebSocketTransport(new URL(url), {
      headers,
      intake: deps.intake,
      proxyFor: deps.proxyFor,
      auth: authProviderOf({ auth, url }, deps),
    }),
)

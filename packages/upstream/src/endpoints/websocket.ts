import { authProviderOf } from '../auth/index.ts'
import { remote } from './remote.ts'
import { WebSocketTransport } from './websocket-transport.ts'

/** A WebSocket, which the protocol does not have, but some servers do. */
export const websocket = remote(
  'WebSocket',
  ({ intake, proxyFor, ...deps }, { url, headers, auth }) =>
    new WebSocketTransport(new URL(url), {
      headers,
      intake,
      proxyFor,
      auth: authProviderOf(auth, deps),
    }),
)

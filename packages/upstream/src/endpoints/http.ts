import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { EndpointKind } from './endpoint-kind.ts'
import { pacedStreams } from '../streams/paced-streams.ts'
import { remote, type RemoteServerConfig } from './remote.ts'
import { requestOptions } from './remote-endpoint.ts'

/** A broken stream of notifications is opened again while the connection is in use. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: Number.MAX_SAFE_INTEGER,
}

/** Streamable HTTP. */
export const http: EndpointKind<RemoteServerConfig> = {
  ...remote('Streamable HTTP', (deps, config) => {
    const options = requestOptions(deps, config)
    return new StreamableHTTPClientTransport(new URL(config.url), {
      ...options,
      fetch: pacedStreams(options.fetch),
      reconnectionOptions: RECONNECTION,
    })
  }),
  fallback: (config) => (config.fallback === 'sse' ? { ...config, type: 'sse' } : undefined),
}

import { SSEClientTransport } from '@modelcontextprotocol/client'
import { remote } from './remote.ts'
import { requestOptions } from './remote-endpoint.ts'

/** HTTP+SSE, the transport before 2025-03-26. */
export const sse = remote(
  'HTTP+SSE',
  (deps, config) => new SSEClientTransport(new URL(config.url), requestOptions(deps, config)),
)

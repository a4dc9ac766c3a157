import { ProtocolClient, type ConnectionOptions } from '../src/connection/protocol-client.ts'
import type { Endpoint } from '../src/endpoints/endpoint.ts'

/** Opens a connection that detects the era of its server and has no listeners. */
export function openConnection(
  endpoint: Endpoint,
  options: Partial<ConnectionOptions> = {},
): Promise<ProtocolClient> {
  return ProtocolClient.open(endpoint, {
    clientInfo: { name: 'test', version: '1.0.0' },
    capabilities: {},
    era: 'auto',
    signal: new AbortController().signal,
    onClose: () => undefined,
    onError: () => undefined,
    prepare: () => undefined,
    ...options,
  })
}

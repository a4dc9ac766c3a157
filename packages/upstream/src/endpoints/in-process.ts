import type { Transport } from '@modelcontextprotocol/client'

import type { CommonServerConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { openRemote } from './remote-endpoint.ts'

/** A server in the process of the host, such as one that an application writes with the MCP SDK. */
export interface InProcessServerConfig extends CommonServerConfig {
  readonly type: 'in-process'
  /**
   * Makes a server and connects it, as in `(transport) => makeServer().connect(transport)`. Called for every
   * connection, since a server of the SDK has one transport.
   */
  readonly serve: (transport: Transport) => void | Promise<void>
}

/** A server without a process or an address. Its messages have the limits of those of other servers. */
export const inProcess: EndpointKind<InProcessServerConfig> = {
  label: 'in-process',
  isProcess: false,
  restart: 'on-failure',
  open: (deps, config) =>
    openRemote(deps, config, ({ intake }, { serve }) => new InProcessTransport(serve, intake)),
  secrets: () => [{}, ''],
  address: () => undefined,
}

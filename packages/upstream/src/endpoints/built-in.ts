import type { EndpointKind } from './endpoint-kind.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { openRemote } from './remote-endpoint.ts'
import type { BuiltInServerConfig, ServeBuiltIn } from './serve-built-in.ts'

/** A server of the host, in its process. Its messages have the limits of those of other servers. */
export const builtIn: EndpointKind<BuiltInServerConfig> = {
  label: 'built-in',
  isProcess: false,
  restart: 'on-failure',
  open(deps, config) {
    const { builtIn: serve = none } = deps
    return openRemote(deps, serve(config), ({ intake }, connect) => {
      return new InProcessTransport(connect, intake)
    })
  },
  secrets: ({ search }) => [search?.key === undefined ? {} : { key: search.key }, ''],
  address: () => undefined,
}

const none: ServeBuiltIn = ({ builtIn: name }) => {
  throw new Error(`this host has no built-in server "${name}"`)
}

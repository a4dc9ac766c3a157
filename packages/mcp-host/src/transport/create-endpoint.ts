import { childEnvironment } from '../config/child-environment.ts'
import type { ServerConfig } from '../config/mcp-config.ts'
import type { Endpoint, EndpointDeps, EndpointOptions } from './endpoint.ts'
import { openRemote } from './remote.ts'
import { StdioTransport } from './stdio.ts'

/** The endpoint of a server. Nothing is started or opened before the transport's `start`. */
export function createEndpoint(
  deps: EndpointDeps,
  config: ServerConfig,
  { graceMs }: EndpointOptions,
): Endpoint {
  if (config.type !== 'stdio') return openRemote(deps, config)
  const { command, args, cwd, limits } = config
  const prefix = deps.sandbox.prefix(config.sandbox ?? deps.sandbox.kind)
  const program = { command, args, cwd, prefix, env: childEnvironment(deps.env, config.env) }
  return new StdioTransport(deps, { program, graceMs, ...(limits === undefined ? {} : { limits }) })
}

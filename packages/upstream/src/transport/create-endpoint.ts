import { childEnvironment } from '@mcp-host/process'
import type { ServerConfig } from '../server-config.ts'
import { withoutLauncher } from '../npm/package-command.ts'
import type { Endpoint, EndpointDeps, EndpointOptions } from './endpoint.ts'
import { openRemote } from './remote.ts'
import { StdioTransport } from './stdio.ts'

/** The endpoint of a server. Nothing is started or opened before the transport's `start`. */
export function createEndpoint(
  deps: EndpointDeps,
  config: ServerConfig,
  { name, graceMs }: EndpointOptions,
): Endpoint {
  if (config.type !== 'stdio') return openRemote(deps, config)
  const { cwd, limits } = config
  const { prefix, tag, env: forced } = deps.sandbox.enter(name, config.sandbox)
  const env = childEnvironment({ ...deps.env, ...forced }, config.env)
  const { command, args } = withoutLauncher(config, { cwd, env })
  const program = { command, args, cwd, prefix, tag, env }
  return new StdioTransport(deps, { program, graceMs, ...(limits === undefined ? {} : { limits }) })
}

import { childEnvironment } from '@mcp-host/process'
import { withoutLauncher } from '../npm/package-command.ts'
import type { StdioInstance, StdioServerConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import { launcherOf } from './launcher.ts'
import { StdioTransport } from './stdio-transport.ts'

/** A process that speaks MCP over its standard streams. */
export const stdio: EndpointKind<StdioServerConfig> = {
  label: 'stdio',
  isProcess: true,
  restart: 'no',

  open(deps, config, { name, graceMs }) {
    const { cwd, limits } = config
    const { prefix, tag, env: forced } = deps.sandbox.enter(name, config.sandbox)
    const env = childEnvironment({ ...deps.env, ...forced }, config.env)
    const { command, args } = withoutLauncher(config, { cwd, env })
    const program = { command, args, cwd, prefix, tag, env }
    return new StdioTransport(deps, { program, graceMs, ...(limits && { limits }) })
  },

  secrets: ({ env, command }) => [env, command],
  address: () => undefined,
  launcher: launcherOf,
  sandbox: (config, { kind }) => config.sandbox?.kind ?? kind,

  instances(config) {
    const { instances = 1, balance: _, ...shared } = config
    const alike = (count: number): StdioInstance[] => Array.from({ length: count }, () => ({}))
    const list = typeof instances === 'number' ? alike(instances) : instances
    return list.map(({ weight = 1, env, ...rest }) => {
      return { weight, config: { ...shared, ...rest, env: { ...shared.env, ...env } } }
    })
  },
}

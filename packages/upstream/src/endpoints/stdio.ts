import {
  childEnvironment,
  type GuardedProcess,
  type ResourceLimits,
  spawnGuarded,
} from '@mcp-host/process'
import { environmentOf, type ProgramAuthConfig } from '../auth/oauth.ts'
import { withoutLauncher } from '../npm/package-command.ts'
import type { CommonServerConfig, InstanceConfig, SandboxConfig } from '../server-config.ts'
import type { EndpointKind } from './endpoint-kind.ts'
import { launcherOf } from './launcher.ts'
import { StdioTransport } from './stdio-transport.ts'

/** A server that runs as a child process and speaks MCP over its standard streams. */
export interface StdioServerConfig extends CommonServerConfig {
  readonly type: 'stdio'
  /** A path, relative to `cwd`, or a name to look up on the `PATH`. Never a shell line. */
  readonly command: string
  readonly args: readonly string[]
  /** Variables in addition to the safe part of the host's environment. */
  readonly env: Readonly<Record<string, string>>
  /** The login of a user, whose token is one more variable. The program keeps the token of its start. */
  readonly auth?: ProgramAuthConfig
  /** The absolute path of the working folder. */
  readonly cwd: string
  /** Limits of the process with all of its descendants; enforced on Linux. */
  readonly limits?: ResourceLimits
  /** How the process is separated from the host and other servers; absent: as the host decides. */
  readonly sandbox?: SandboxConfig
  /** A number of equal processes that share the requests, or a list with the differences of each. */
  readonly instances?: number | readonly StdioInstance[]
}

export interface StdioInstance extends InstanceConfig {
  /** Replaces the arguments of the server. */
  readonly args?: readonly string[]
  /** Variables in addition to the server's. They win over equal names. */
  readonly env?: Readonly<Record<string, string>>
}

/** A process that speaks MCP over its standard streams. */
export const stdio: EndpointKind<StdioServerConfig> = {
  label: 'stdio',
  isProcess: true,
  restart: 'no',

  open(deps, config, { name, graceMs }) {
    const { cwd, limits, auth } = config
    const { prefix, tag, env: forced } = deps.sandbox.enter(name, config.sandbox)
    const env = childEnvironment({ ...deps.env, ...forced }, config.env)
    const { command, args } = withoutLauncher(config, { cwd, env })
    const spawn = async (isClosing: () => boolean): Promise<GuardedProcess> => {
      const own = auth === undefined ? env : { ...env, ...(await environmentOf(auth, deps)) }
      if (isClosing()) throw new Error('it was closed before its start')
      return spawnGuarded(deps.guardian, { command, args, cwd, prefix, tag, env: own })
    }
    return new StdioTransport(deps, { spawn, graceMs, ...(limits && { limits }) })
  },

  secrets: ({ env, command }) => [env, command],
  address: () => undefined,
  launcher: launcherOf,
  sandbox: (config, { kind }) => config.sandbox?.kind ?? kind,

  instances(config) {
    const { instances, balance: _, ...shared } = config
    if (instances === undefined) return undefined
    const alike = (count: number): StdioInstance[] => Array.from({ length: count }, () => ({}))
    const list = typeof instances === 'number' ? alike(instances) : instances
    return list.map(({ weight = 1, env, ...rest }) => {
      return { weight, config: { ...shared, ...rest, env: { ...shared.env, ...env } } }
    })
  },
}

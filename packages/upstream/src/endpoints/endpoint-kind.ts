import type { Sandbox } from '../sandbox/sandbox.ts'
import type { CommonServerConfig, RestartConfig, SandboxKind } from '../server-config.ts'
import type { Endpoint, EndpointDeps, EndpointOptions } from './endpoint.ts'

export interface WeightedConfig<Config> {
  /** The configuration of a server with this instance alone. */
  readonly config: Config
  readonly weight: number
}

/** What differs between the kinds of servers. A further kind is a file such as `http.ts`, and its line in `index.ts`. */
export interface EndpointKind<Config extends CommonServerConfig & { readonly type: string }> {
  /** Its name in errors. */
  readonly label: string
  /** Whether a server is a process of this machine, whose end its transport sees. */
  readonly isProcess: boolean
  /** The restart policy of a server that has none in its configuration. */
  readonly restart: RestartConfig['policy']
  /** The endpoint of a server. Nothing is started or opened before the transport's `start`. */
  open(deps: EndpointDeps, config: Config, options: EndpointOptions): Endpoint
  /** The values to mask in errors, and a text that errors have to name although such a value may be in it. */
  secrets(config: Config): readonly [values: Readonly<Record<string, string>>, shown: string]
  /** The address, whole and as errors show it, without secrets; `undefined` for a program. */
  address(config: Config): { readonly whole: string; readonly shown: string } | undefined
  /** The launcher, such as `npx`, which may have to fetch the program. */
  launcher?(config: Config): string | undefined
  /** How the process is separated from the host. */
  sandbox?(config: Config, sandbox: Sandbox): SandboxKind
  /** The configuration to try when the server refuses this one. */
  fallback?(config: Config): Config | undefined
  /** The instances of a server, in their order; `undefined` for a server without `instances`. */
  instances?(config: Config): readonly WeightedConfig<Config>[] | undefined
}

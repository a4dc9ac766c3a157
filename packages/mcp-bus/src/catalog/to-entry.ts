import type { ServerEntry } from '@mcp-host/contracts'
import { ServerName } from '@mcp-host/contracts'
import type {
  InstanceSnapshot,
  OAuthAuthConfig,
  ProgramAuthConfig,
  RemoteServerConfig,
  ServerConfig,
  ServerSnapshot,
  StdioServerConfig,
  TokenExchangeAuthConfig,
} from '@mcp-host/upstream'
import { isProcess } from '@mcp-host/upstream'
import { truncate } from '../truncate.ts'

/** A server at which users log in. */
export type LoginServerConfig =
  | (RemoteServerConfig & { readonly auth: OAuthAuthConfig })
  | (StdioServerConfig & { readonly auth: ProgramAuthConfig })

/** A server with one connection for each user: users log in there, or the host signs assertions about them. */
export type UserServerConfig =
  | LoginServerConfig
  | (RemoteServerConfig & { readonly auth: TokenExchangeAuthConfig })

/** The catalog entry of a server. */
export function toEntry(
  supervisor: string,
  config: ServerConfig,
  snapshot: ServerSnapshot,
): ServerEntry {
  const { type, placement = defaultPlacement(type), validateArguments } = config
  const {
    name,
    error,
    phase,
    instances,
    health: _,
    serverInfo: __,
    protocolVersion: ___,
    ...rest
  } = snapshot
  const entry = {
    kind: 'server' as const,
    server: ServerName.parse(name),
    supervisor,
    ...rest,
    ...errorFields(error),
    // After a failed attempt the failure is what matters.
    ...(phase === undefined || error !== undefined ? {} : { phase }),
    type,
    // The cast below would hide a value that the catalog does not know.
    scope: scopeOf(config) satisfies ServerEntry['scope'],
    placement: placement satisfies ServerEntry['placement'],
    ...(validateArguments === undefined ? {} : { validation: validateArguments }),
    ...(instances === undefined ? {} : { instances: instances.map(toInstance) }),
  }
  // The lists and capabilities came as JSON from the server.
  return entry as ServerEntry
}

function toInstance({ error, ...instance }: InstanceSnapshot) {
  return { ...instance, ...errorFields(error) }
}

function errorFields(error: ServerSnapshot['error']): Pick<ServerEntry, 'error' | 'output'> {
  if (error === undefined) return {}
  const { reason, output } = error
  return { error: truncate(reason), ...(output.length === 0 ? {} : { output: [...output] }) }
}

/** Who shares a process or connection of a server: all, or one for each session or user. */
function scopeOf(config: ServerConfig): NonNullable<ServerEntry['scope']> {
  return isPerUser(config) ? 'user' : (config.scope ?? 'shared')
}

/** Whether each user has a connection to a server. */
export function isPerUser(config: ServerConfig): config is UserServerConfig {
  return hasLogins(config) || ('auth' in config && config.auth?.type === 'token-exchange')
}

/** Whether users log in at a server. */
export function hasLogins(config: ServerConfig): config is LoginServerConfig {
  return 'auth' in config && config.auth?.type === 'oauth'
}

/** The default placement: a process may have state, so it runs once; a remote server accepts any number of clients. */
export function defaultPlacement(type: ServerConfig['type']): 'one' | 'every' {
  return isProcess(type) ? 'one' : 'every'
}

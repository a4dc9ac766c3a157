import type { McpConfig } from '@mcp-host/mcp-json'
import type { ServerConfig } from '@mcp-host/upstream'
import { isProcess } from '@mcp-host/upstream'

/**
 * Restarts crashed processes, which the library does not by default, unless `mcp.json` configures it. A dedicated
 * process is not restarted: the next call starts another one, and its user learns that the state is lost.
 */
export function withRestarts({ servers, ...rest }: McpConfig): McpConfig {
  const withRestart = ([name, config]: [string, ServerConfig]): [string, ServerConfig] =>
    isProcess(config.type) && config.scope !== 'session'
      ? [name, { restart: { policy: 'on-failure' }, ...config }]
      : [name, config]
  return { ...rest, servers: Object.fromEntries(Object.entries(servers).map(withRestart)) }
}

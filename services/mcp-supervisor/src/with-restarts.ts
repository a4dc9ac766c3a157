import type { McpConfig, ServerConfig } from 'mcp-host'

/**
 * Restarts crashed processes unless `mcp.json` says otherwise; the library's default is not to. A session's process is
 * not restarted: the next call starts another one, and its user is told that its state is lost.
 */
export function withRestarts({ servers }: McpConfig): McpConfig {
  const restarted = ({ type, scope, ...rest }: ServerConfig): boolean =>
    type === 'stdio' && scope !== 'session' && rest.restart === undefined
  return {
    servers: Object.fromEntries(
      Object.entries(servers).map(([name, config]) => [
        name,
        restarted(config) ? { ...config, restart: { policy: 'on-failure' as const } } : config,
      ]),
    ),
  }
}

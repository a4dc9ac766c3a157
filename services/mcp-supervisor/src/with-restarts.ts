import type { McpConfig, ServerConfig } from 'mcp-host'

/**
 * Restarts a crashed process where `mcp.json` does not say otherwise; the library leaves it down. A process of
 * one session stays down: the next call starts another, and its user is told that what it kept is lost.
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

export type { CallToolResult, Implementation } from '@modelcontextprotocol/client'
export { loadMcpConfig } from './config/load-mcp-config.ts'
export type { McpConfig, ServerConfig, StdioServerConfig } from './config/mcp-config.ts'
export { type ConfigFault, ConfigurationError } from './errors/configuration-error.ts'
export { type ErrorContext, McpHostError, type McpHostErrorCode } from './errors/mcp-host-error.ts'
export { ProtocolError } from './errors/protocol-error.ts'
export { ServerStartupError } from './errors/server-startup-error.ts'
export { ServerUnavailableError } from './errors/server-unavailable-error.ts'
export { TimeoutError } from './errors/timeout-error.ts'
export { type ArgumentIssue, ValidationError } from './errors/validation-error.ts'
export {
  type CallToolOptions,
  MCPHost,
  type MCPHostOptions,
  type ServerChangesOptions,
  type StartPolicy,
} from './host.ts'
export type { Logger } from './logger.ts'
export type { Environment } from './environment.ts'
export type { ServerSnapshot } from './server/server-snapshot.ts'
export type { ServerState } from './server/server-state.ts'
export type { Tool } from './server/tool.ts'
export type { ToolIdentity } from './tool-table.ts'

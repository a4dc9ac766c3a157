export type {
  CallToolResult,
  CompleteResult,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  ListRootsResult,
  LoggingLevel,
  Progress,
  ReadResourceResult,
} from '@modelcontextprotocol/client'
export type { AskInput } from '@mcp-host/mcp-json'
export type { ConfigGiven } from '@mcp-host/mcp-json'
export type { ReloadReport } from '@mcp-host/mcp-json'
export type { ConfigInput } from '@mcp-host/mcp-json'
export { loadMcpConfig, type LoadOptions } from '@mcp-host/mcp-json'
export { parseMcpConfig, type ParseOptions, type ReadOptions } from '@mcp-host/mcp-json'
export type { WrittenConfig, WrittenServer, WrittenServers } from '@mcp-host/mcp-json'
export type { McpConfig } from '@mcp-host/mcp-json'
export type {
  BalancePolicy,
  CircuitBreakerConfig,
  CommonServerConfig,
  HealthCheckConfig,
  InstanceConfig,
  RemoteInstance,
  RemoteServerConfig,
  RestartConfig,
  ServerConfig,
  StdioInstance,
  StdioServerConfig,
  SandboxKind,
  ValidationMode,
} from '@mcp-host/upstream'
export { type ConfigFault, ConfigurationError, describeFault } from '@mcp-host/mcp-json'
export { type ErrorContext, McpHostError, type McpHostErrorCode } from '@mcp-host/upstream'
export { ProtocolError } from '@mcp-host/upstream'
export { ServerStartupError } from '@mcp-host/upstream'
export { ServerUnavailableError } from '@mcp-host/upstream'
export { TimeoutError } from '@mcp-host/upstream'
export { ToolExecutionError } from '@mcp-host/upstream'
export { type ArgumentIssue, ValidationError } from '@mcp-host/upstream'
export type { MessageLimits } from '@mcp-host/upstream'
export type { HostEvent } from './events/host-event.ts'
export {
  type CompleteParams,
  type EventsOptions,
  MCPHost,
  type ServerChangesOptions,
} from './host.ts'
export type { CacheOptions, MCPHostOptions } from './host-options.ts'
export type { ListName } from '@mcp-host/upstream'
export type { ListCaching } from '@mcp-host/upstream'
export type { Prompt, Resource, ResourceTemplate } from '@mcp-host/upstream'
export type { HostTool, Tool } from '@mcp-host/upstream'
export type { Environment, Logger, ResourceLimits } from '@mcp-host/process'
export type { ToolFilter } from '@mcp-host/mcp'
export type { CallMetrics, CallOutcome } from '@mcp-host/upstream'
export type { LatencyBucket } from '@mcp-host/upstream'
export {
  type BrokenCircuits,
  type HostMetrics,
  MetricsRegistry,
  type ServerMetrics,
} from '@mcp-host/upstream'
export type { CallPriority } from '@mcp-host/upstream'
export type {
  CacheableOptions,
  CallToolOptions,
  ForwardOptions,
  RequestOptions,
  RetryableErrorCode,
  RetryOptions,
} from '@mcp-host/upstream'
export type {
  CausingCall,
  ServerRequest,
  ServerRequestCallback,
  ServerRequestHandlers,
  ServerRequestKind,
} from '@mcp-host/upstream'
export type { ResourceIdentity } from '@mcp-host/mcp'
export type { PromptIdentity, ToolIdentity } from '@mcp-host/mcp'
export { openSandbox, type SandboxOptions } from '@mcp-host/upstream'
export type { ProtectedPaths } from '@mcp-host/upstream'
export { Sandbox } from '@mcp-host/upstream'
export type { StartPolicy } from './server/server-group.ts'
export type { InstanceSnapshot, ServerHealth, ServerSnapshot } from '@mcp-host/upstream'
export type { ServerState } from '@mcp-host/upstream'
export { VERSION } from './version.ts'

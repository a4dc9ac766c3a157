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
export type { AskInput } from './config/ask-inputs.ts'
export type { ConfigGiven } from './config/config-source.ts'
export type { ReloadReport } from './config/diff-config.ts'
export type { ConfigInput } from './config/find-inputs.ts'
export { loadMcpConfig, type LoadOptions } from './config/load-mcp-config.ts'
export { parseMcpConfig, type ParseOptions, type ReadOptions } from './config/parse-mcp-config.ts'
export type { WrittenConfig, WrittenServer, WrittenServers } from './config/written-config.ts'
export type {
  BalancePolicy,
  CircuitBreakerConfig,
  CommonServerConfig,
  HealthCheckConfig,
  InstanceConfig,
  McpConfig,
  RemoteInstance,
  RemoteServerConfig,
  ResourceLimits,
  RestartConfig,
  ServerConfig,
  StdioInstance,
  StdioServerConfig,
  SandboxKind,
  ToolFilter,
  ValidationMode,
} from './config/mcp-config.ts'
export type { Environment } from './environment.ts'
export {
  type ConfigFault,
  ConfigurationError,
  describeFault,
} from './errors/configuration-error.ts'
export { type ErrorContext, McpHostError, type McpHostErrorCode } from './errors/mcp-host-error.ts'
export { ProtocolError } from './errors/protocol-error.ts'
export { ServerStartupError } from './errors/server-startup-error.ts'
export { ServerUnavailableError } from './errors/server-unavailable-error.ts'
export { TimeoutError } from './errors/timeout-error.ts'
export { ToolExecutionError } from './errors/tool-execution-error.ts'
export { type ArgumentIssue, ValidationError } from './errors/validation-error.ts'
export type { MessageLimits } from './intake/message-limits.ts'
export type { HostEvent } from './events/host-event.ts'
export {
  type CompleteParams,
  type EventsOptions,
  MCPHost,
  type ServerChangesOptions,
} from './host.ts'
export type { CacheOptions, MCPHostOptions } from './host-options.ts'
export type { ListName } from './inventory/inventory.ts'
export type { ListCaching } from './inventory/list-caching.ts'
export type { Prompt, Resource, ResourceTemplate } from './inventory/listed.ts'
export type { HostTool, Tool } from './inventory/tool.ts'
export type { Logger } from './logger.ts'
export type { CallMetrics, CallOutcome } from './metrics/call-meter.ts'
export type { LatencyBucket } from './metrics/latency-histogram.ts'
export {
  type BrokenCircuits,
  type HostMetrics,
  MetricsRegistry,
  type ServerMetrics,
} from './metrics/host-metrics.ts'
export type { CallPriority } from './policies/call-queue.ts'
export type {
  CacheableOptions,
  CallToolOptions,
  ForwardOptions,
  RequestOptions,
  RetryableErrorCode,
  RetryOptions,
} from './requests/options.ts'
export type {
  CausingCall,
  ServerRequest,
  ServerRequestCallback,
  ServerRequestHandlers,
  ServerRequestKind,
} from './requests/server-request.ts'
export type { ResourceIdentity } from './routing/find-resource.ts'
export type { PromptIdentity, ToolIdentity } from './names/name-table.ts'
export { openSandbox, type SandboxOptions } from './sandbox/open-sandbox.ts'
export type { ProtectedPaths } from './sandbox/protect-paths.ts'
export { Sandbox } from './sandbox/sandbox.ts'
export type { StartPolicy } from './server/server-group.ts'
export type { InstanceSnapshot, ServerHealth, ServerSnapshot } from './server/server-snapshot.ts'
export type { ServerState } from './server/server-state.ts'
export { VERSION } from './version.ts'

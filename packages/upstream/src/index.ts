export type { CallToolResult } from '@modelcontextprotocol/client'
export type { AuthConfig } from './auth/index.ts'
export type { BearerAuthConfig } from './auth/bearer.ts'
export type { ClientCredentialsAuthConfig } from './auth/client-credentials.ts'
export { isStale } from './auth/oauth.ts'
export type { AccountRule, OAuthAuthConfig, ProgramAuthConfig } from './auth/oauth.ts'
export { isLoginNeeded, LoginNeededError } from './auth/oauth/login-needed-error.ts'
export type { RegistrationStore } from './auth/oauth/registration-store.ts'
export type { TokenExchangeAuthConfig } from './auth/token-exchange.ts'
export type { AssertUser, LoginStore, UserLogins } from './auth/oauth/user-logins.ts'
export type { CompleteLogin, PendingLogin } from './auth/oauth/login.ts'
export {
  beginLoginElsewhere,
  type EarlierLogin,
  finishLoginElsewhere,
  revokeLogin,
} from './auth/login-elsewhere.ts'
export type { LoginServer } from './auth/login-server.ts'
export { type BroughtTokens, describeLogin, takeLogin } from './auth/brought-login.ts'
export { ArgumentValidator } from './arguments/argument-validator.ts'
export type { MessageLimits } from './intake/message-limits.ts'
export { MESSAGE_LIMITS } from './intake/message-limits.ts'
export type { ListName } from './inventory/inventory.ts'
export { Inventory } from './inventory/inventory.ts'
export type { ListCaching } from './inventory/list-caching.ts'
export type { Prompt, Resource, ResourceTemplate } from './inventory/listed.ts'
export type { HostTool } from './inventory/tool.ts'
export { Tool } from './inventory/tool.ts'
export type { CallMetrics, CallOutcome } from './metrics/call-meter.ts'
export type { BrokenCircuits, HostMetrics, LeftOut, ServerMetrics } from './metrics/host-metrics.ts'
export { MetricsRegistry } from './metrics/host-metrics.ts'
export type { LatencyBucket } from './metrics/latency-histogram.ts'
export type { CallPriority } from './policies/call-queue.ts'
export type {
  CacheableOptions,
  CallToolOptions,
  ForwardOptions,
  RequestOptions,
  RetryOptions,
  RetryableErrorCode,
} from './requests/options.ts'
export type {
  CausingCall,
  ServerRequest,
  ServerRequestCallback,
  ServerRequestHandlers,
  ServerRequestKind,
} from './requests/server-request.ts'
export { SERVER_REQUEST_KINDS, callbackOf, handledKinds } from './requests/server-request.ts'
export type { SandboxOptions } from './sandbox/open-sandbox.ts'
export { openSandbox } from './sandbox/open-sandbox.ts'
export type { ProtectedPaths } from './sandbox/protect-paths.ts'
export type {
  BalancePolicy,
  CircuitBreakerConfig,
  CommonServerConfig,
  HealthCheckConfig,
  InstanceConfig,
  RestartConfig,
  SandboxConfig,
  SandboxKind,
  ValidationMode,
} from './server-config.ts'
export type { InstanceSnapshot, ServerHealth, ServerSnapshot } from './instance/server-snapshot.ts'
export type { ServerState } from './instance/server-state.ts'
export type { ErrorContext, McpHostErrorCode } from './errors/mcp-host-error.ts'
export { McpHostError } from './errors/mcp-host-error.ts'
export { ProtocolError } from './errors/protocol-error.ts'
export { ServerStartupError } from './errors/server-startup-error.ts'
export { ServerUnavailableError } from './errors/server-unavailable-error.ts'
export { TimeoutError } from './errors/timeout-error.ts'
export { ToolExecutionError } from './errors/tool-execution-error.ts'
export type { ArgumentIssue } from './errors/validation-error.ts'
export { ValidationError } from './errors/validation-error.ts'
export { Sandbox } from './sandbox/sandbox.ts'
export type { ServerLogMessage } from './requests/server-inbox.ts'
export { isProcess, type ServerConfig } from './endpoints/index.ts'
export type { InProcessServerConfig } from './endpoints/in-process.ts'
export type {
  BuiltInServerConfig,
  ServeBuiltIn,
  WebSearchConfig,
} from './endpoints/serve-built-in.ts'
export type { RemoteInstance, RemoteServerConfig } from './endpoints/remote.ts'
export type { StdioInstance, StdioServerConfig } from './endpoints/stdio.ts'
export { differInInstances } from './pool/instances-of.ts'
export { Upstream } from './upstream.ts'
export type { UpstreamEvents } from './upstream-events.ts'
export {
  checkLimits,
  settleUpstreamOptions,
  type SettledUpstreamOptions,
  type UpstreamOptions,
} from './upstream-options.ts'

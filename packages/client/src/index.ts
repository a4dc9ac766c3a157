export type { Principal } from '@mcp-host/contracts'
export type {
  Account,
  ApiKey,
  Approval,
  AuditEntry,
  AuditQuery,
  AuditVerification,
  ChangedTool,
  Explanation,
  FileFault,
  Invitation,
  Limit,
  NewApiKey,
  ServerOutput,
  SupervisorOutcome,
  UserOfServer,
} from './api/admin-api.ts'
export { AdminApi } from './api/admin-api.ts'
export type { ClientState, EndReason } from './client-state.ts'
export { GATEWAY_RESTARTS } from './client-state.ts'
export type {
  BroughtTokens,
  Connection,
  LoginChange,
  LoginDescription,
  ServerLogin,
} from './api/connection.ts'
export type { ConnectionFault } from './connection-fault.ts'
export type {
  CallOptions,
  HistoryOptions,
  HostStatus,
  ListOptions,
  Message,
  Models,
  NewSession,
  PageOptions,
  Prompt,
  Resource,
  ResourcePart,
  ServerStatus,
  Session,
  SessionChanges,
  SessionWithDetails,
  Share,
  SharedSession,
  Tool,
  ToolAnswer,
} from './api/host-api.ts'
export { HostApi } from './api/host-api.ts'
export { HostError } from './host-error.ts'
export { countOf } from './count-of.ts'
export { settledText } from './settled-text.ts'
export { LOST_TEXT_MESSAGES } from './lost-text-messages.ts'
export { MAX_MESSAGE_LENGTH } from './max-message-length.ts'
export { newId } from './new-id.ts'
export type { OutboxStore, OutFrame } from './outbox.ts'
export { storedOutbox } from './outbox.ts'
export type { HostAddress } from './api/request-json.ts'
export type {
  Answer,
  ClientEvent,
  MessageExtras,
  Sent,
  SessionClientOptions,
} from './session-client-options.ts'
export { SessionClient } from './session-client.ts'
export { visibleText } from '@mcp-host/contracts/visible-text'

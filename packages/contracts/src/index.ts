export type { BucketAccess, BucketName } from './access/buckets.ts'
export { AUDIT_WRITERS, BLOB_USERS, BUCKETS, COUNTER_USERS } from './access/buckets.ts'
export type { AccountName, Participant, ServiceParticipant } from './access/participants.ts'
export { ACCOUNTS } from './access/participants.ts'
export { CONTRACTS } from './registry.ts'
export type { CallContract, Contract, EventContract, OpaqueCallContract } from './contract.ts'
export type { BucketDefinition } from './bucket.ts'
export { defineBucket } from './bucket.ts'
export {
  Maintenance,
  MAINTENANCE_KEY,
  maintenanceBucket,
  MAX_NOTICE_LENGTH,
} from './maintenance.ts'
export { ALL_AUDIT, auditSubject, auditSubjectsOf, auditWriter } from './audit-subject.ts'
export type { Caller, Entrance } from './envelope.ts'
export { callerAt, childEnvelope, Envelope, newEnvelope, traceId } from './envelope.ts'
export {
  BUILT_IN_ROLES,
  hasAdminRole,
  isAdmin,
  RecordedScopes,
  LOCAL,
  NOBODY,
  Principal,
  PrincipalId,
  RoleName,
  Scope,
  SCOPES,
} from './principal.ts'
export { principalCheck } from './principal-check.ts'
export { BusError, ErrorCode, ErrorInfo, parseInput } from './error.ts'
export {
  AccountLabel,
  DEFAULT_LABEL,
  GenerationId,
  generationFence,
  hashText,
  generationId,
  newSessionId,
  BUILT_IN_SERVERS,
  RESERVED_SERVER_NAMES,
  ServerName,
  SessionId,
  SHARDS,
  shardOf,
  ToolCallId,
  toolCallId,
} from './ids.ts'
export {
  DamageEntry,
  describeDamage,
  CatalogEntry,
  catalogKey,
  CatalogTool,
  FileFaultEntry,
  ListedModel,
  ModelEntry,
  presentProviders,
  ProviderEntry,
  ServerEntry,
  ServerLists,
  ServerStats,
  ToolUse,
} from './mcp-server/catalog-entry.ts'
export type { FileFault } from './mcp-server/file-faults.ts'
export { describeFileFault, fileFaults } from './mcp-server/file-faults.ts'
export { explainFailure, outputBesideReason } from './mcp-server/explain-failure.ts'
export type { ServerInstance, ServerView } from './mcp-server/view-servers.ts'
export {
  isConfigured,
  presentSupervisors,
  unreportedServers,
  viewServers,
} from './mcp-server/view-servers.ts'
export {
  ContentBlock,
  ModelUsage,
  OfferedTool,
  PromptMessage,
  ToolAnswer,
  ToolCallBlock,
  Usage,
} from './model/content.ts'
export { clientCancel, clientMessage } from './mcp/client-message.ts'
export { serverLog } from './mcp/server-log.ts'
export { LOG_LEVELS, McpClient, McpClientRecord, McpLogLevel } from './mcp/mcp-client.ts'
export type { McpRequestControl } from './mcp/mcp-request.ts'
export {
  mcpClientRequest,
  mcpRequestControl,
  McpRequestHead,
  McpReplyHead,
  mcpRequest,
  POLICY_METHOD,
} from './mcp/mcp-request.ts'
export { readClientLists } from './mcp/read-client-lists.ts'
export { ResumeHead, resumeRequest } from './mcp/resume-request.ts'
export {
  resourceUpdated,
  WATCH_MS,
  watchClientResources,
  watchResources,
} from './mcp/watch-resources.ts'
export { generate, GenerateRequest, Prompt } from './model/generate.ts'
export { generationControl } from './model/generation-control.ts'
export { generationSnapshot } from './model/generation-snapshot.ts'
export { Attachment, BlobReference, cleanType, isText, Media, UNKNOWN_TYPE } from './model/media.ts'
export { withoutAlias } from './model/provider-alias.ts'
export { runningGenerations } from './model/running-generations.ts'
export { TextDelta, textDelta } from './model/text-delta.ts'
export { sample, SampleReply, SampleRequest } from './model/sample.ts'
export { orchestratorControl } from './orchestrator/orchestrator-control.ts'
export { orchestratorJobs } from './orchestrator/orchestrator-jobs.ts'
export { CancelRequested, ControlFact, controlFact, InputAnswered } from './session/control.ts'
export { GenerationResult, generationResult } from './session/generation-result.ts'
export type { LogEntry, LogFact, UnreadableFact } from './session/log-entry.ts'
export { LOG_FACTS } from './session/log-entry.ts'
export {
  ALL_INPUTS,
  ALL_LIVE,
  ALL_LOGS,
  ALL_LOGS_LIVE,
  LOG_PROBE,
  factSubject,
  liveLogSubjects,
  liveSubjects,
  sessionLogSubjects,
  storedSubject,
} from './session/log-subjects.ts'
export { SessionRecord } from './session/session-record.ts'
export type { ToolStarted } from './session/tool-fact.ts'
export { InputRequired, ToolFact, toolFact, ToolFinished } from './session/tool-fact.ts'
export type { AddedUsage } from './session/add-usage.ts'
export { addUsage } from './session/add-usage.ts'
export { comparable } from './comparable.ts'
export { JsonObject, JsonValue } from './json-value.ts'
export { ownValue } from './own-value.ts'
export { changeSettings, SessionSettings, SettingsChange } from './session/session-settings.ts'
export { toolOutcome } from './session/tool-outcome.ts'
export type { TurnDone, TurnWaiting } from './session/turn-event.ts'
export {
  ApprovalRequired,
  ContextCompacted,
  TurnEvent,
  turnEvent,
  TurnOutcome,
} from './session/turn-event.ts'
export { UserMessage, userMessage } from './session/user-message.ts'
export { deleteSession } from './session-api/delete-session.ts'
export { getSession, SessionDetails } from './session-api/get-session.ts'
export { HistoryMessage } from './session-api/history-message.ts'
export { listSessions } from './session-api/list-sessions.ts'
export { updateSession } from './session-api/update-session.ts'
export { sessionHistory } from './session-api/session-history.ts'
export type { Cursor } from './socket/cursor.ts'
export { cursorAfter, formatCursor, parseCursor } from './socket/cursor.ts'
export { ConnectionInfo, connectionsFound, findConnections } from './socket/connections.ts'
export type { SessionEvent, ToolProgressDown } from './socket/down.ts'
export { ContextDown, Down, InputDown, QueueDown, UserDown } from './socket/down.ts'
export {
  AnswerUp,
  CancelCallUp,
  CancelUp,
  hasContent,
  MAX_MESSAGE_LENGTH,
  MessageUp,
  ModelReference,
  NO_CONTENT,
  RegenerateUp,
  Up,
} from './socket/up.ts'
export type { SubjectParam, SubjectParams } from './subject.ts'
export { fillSubject, matchSubject } from './subject.ts'
export { runSessionTool } from './supervisor/run-session-tool.ts'
export { storageFault } from './storage-fault.ts'
export { ServerPause, serverPauses } from './supervisor/server-pause.ts'
export {
  beginServerLogin,
  bringServerLogin,
  BroughtTokens,
  changeServerLogin,
  describeServerLogin,
  endServerLogin,
  finishServerLogin,
  listServerLogins,
  LoginChange,
  LoginDescription,
  type LoginKeys,
  readLoginKeys,
  readUsersOfServer,
  LoginServer,
  ServerLogin,
} from './supervisor/server-login.ts'
export { ReloadResult, supervisorControl } from './supervisor/supervisor-control.ts'
export type { ApprovalRule } from './tool/approval-rule.ts'
export {
  APPROVAL_MARKS,
  approvalFinder,
  approvalRule,
  hasMark,
  isApprovalRule,
  unmatchedPatterns,
} from './tool/approval-rule.ts'
export { blockText } from './tool/block-text.ts'
export { mediaOf } from './tool/media-of.ts'
export { callControl } from './tool/call-control.ts'
export { OPTIONS_META_KEY, Priority, RequestOptions, RetryOptions } from './tool/request-options.ts'
export { runTool, RunToolRequest } from './tool/run-tool.ts'
export { ToolProgress, toolProgress } from './tool/tool-progress.ts'
export { CONTRACT_VERSION } from './version.ts'
export { LogHead, LostRange } from './session/log-head.ts'

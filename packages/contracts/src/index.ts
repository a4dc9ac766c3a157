export { CONTRACTS } from './catalog.ts'
export type { CallContract, Contract, EventContract } from './contract.ts'
export { childEnvelope, Envelope, newEnvelope, traceId } from './envelope.ts'
export { BusError, ErrorCode, ErrorInfo } from './error.ts'
export {
  GenerationId,
  generationFence,
  generationId,
  newSessionId,
  RESERVED_SERVER_NAMES,
  ServerName,
  SessionId,
  SHARDS,
  shardOf,
  ToolCallId,
  toolCallId,
} from './ids.ts'
export {
  CatalogEntry,
  catalogKey,
  CatalogTool,
  ModelEntry,
  ServerEntry,
  ServerStats,
  SupervisorEntry,
} from './mcp-server/catalog-entry.ts'
export type { ServerInstance, ServerView } from './mcp-server/view-servers.ts'
export { viewServers } from './mcp-server/view-servers.ts'
export {
  ContentBlock,
  OfferedTool,
  PromptMessage,
  ToolAnswer,
  ToolCallBlock,
  Usage,
} from './model/content.ts'
export { generate, GenerateRequest } from './model/generate.ts'
export { generationControl } from './model/generation-control.ts'
export { generationSnapshot } from './model/generation-snapshot.ts'
export { TextDelta, textDelta } from './model/text-delta.ts'
export { sample, SampleReply, SampleRequest } from './model/sample.ts'
export { orchestratorControl } from './orchestrator/orchestrator-control.ts'
export { ControlFact, controlFact, InputAnswered } from './session/control.ts'
export type { Generation, Question, SessionState, ToolCall, Turn } from './session/fold.ts'
export { applyEntry, emptySession, nextInput } from './session/fold.ts'
export { GenerationResult, generationResult } from './session/generation-result.ts'
export type { LogEntry, LogFact } from './session/log-entry.ts'
export { LOG_FACTS } from './session/log-entry.ts'
export {
  ALL_LOGS,
  ALL_LOGS_LIVE,
  factSubject,
  liveLogSubjects,
  sessionLogSubjects,
} from './session/log-subjects.ts'
export type { QuestionEnd } from './session/question.ts'
export { questionEnd } from './session/question.ts'
export {
  BlobReference,
  InputRequired,
  ToolFact,
  toolFact,
  ToolFinished,
} from './session/tool-fact.ts'
export { TurnEvent, turnEvent, TurnOutcome } from './session/turn-event.ts'
export { UserMessage, userMessage } from './session/user-message.ts'
export type { Cursor } from './socket/cursor.ts'
export { cursorAfter, formatCursor, parseCursor } from './socket/cursor.ts'
export type { SessionEvent } from './socket/down.ts'
export { Down } from './socket/down.ts'
export { MAX_MESSAGE_LENGTH, Up } from './socket/up.ts'
export type { SubjectParam, SubjectParams } from './subject.ts'
export { fillSubject, matchSubject, subjectPattern } from './subject.ts'
export { runSessionTool } from './supervisor/run-session-tool.ts'
export { ReloadResult, supervisorControl } from './supervisor/supervisor-control.ts'
export { blockText } from './tool/block-text.ts'
export { callControl } from './tool/call-control.ts'
export { runTool, RunToolRequest } from './tool/run-tool.ts'
export { CONTRACT_VERSION } from './version.ts'

import type { AuditLog } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type {
  CatalogTool,
  Envelope,
  ModelEntry,
  OfferedTool,
  SessionId,
  ToolCallBlock,
} from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import type { OfferedToolIndex } from '../tools/offered-tools.ts'
import type { ResultTexts } from '../results/result-texts.ts'
import type { OrchestratorEvents } from '../events.ts'
import type { WorkerHeartbeats } from './worker-heartbeats.ts'
import type { SessionView } from './session-view.ts'
import type { SessionViews } from './session-views.ts'
import type { TurnSlots } from './turn-slots.ts'
import type { PrincipalChecks } from './principal-checks.ts'
import type { TurnWriter } from './turn-writer.ts'

/** The tools of the host, as turns use them. */
export interface Tools {
  /** The tools that can be offered. Waits a little for servers that are starting. */
  offered(): Promise<readonly OfferedTool[]>
  /** The tools that can be offered at once. */
  current(): readonly OfferedTool[]
  /** The search index of these tools. */
  index(): Promise<OfferedToolIndex>
  /** Configured servers that cannot be used at the moment. */
  missing(): string[]
  /** Whether a missing server is configured, so that it may come back. */
  isConfigured(server: string): boolean
  /** A tool as its server lists it, or has listed it last. */
  definitionOf(server: string, tool: string): CatalogTool | undefined
  /** The arguments of a call as its server will get them, with coerced scalars. */
  sentArguments(call: ToolCallBlock): Promise<ToolCallBlock['arguments']>
  /** Whether a repeated call does no harm. */
  isRepeatable(call: ToolCallBlock): boolean
}

/** The limits of a turn. */
export interface Limits {
  readonly maxToolCalls: number
  /** Limit for all turns of a session together. 0: none. */
  readonly maxSessionToolCalls: number
  /** Limit for the duration of a turn without its waits for a user. 0: none. */
  readonly maxTurnMs: number
  /** Tokens written by models. 0: none. */
  readonly maxTurnTokens: number
  /** Retries of a failed model, and the delay before the first; it doubles each time. */
  readonly llmRetries: number
  readonly llmRetryMs: number
  /** The token budget of the conversation; default: the model's context window. */
  readonly contextTokens?: number
  /** Older messages beyond this number are summarised. 0: no limit. */
  readonly maxHistoryLength: number
  /** The share of the context, in per cent, above which messages are summarised. */
  readonly summarizationThreshold: number
  /** Newest messages that are never summarised. */
  readonly retainNewestMessages: number
  /** The limit for one tool result in a prompt, in tokens. */
  readonly maxResultTokens: number
  /** With more tools than this, models are offered a search and the tools that they found. */
  readonly maxOfferedTools: number
  readonly approvalTimeoutMs: number
}

/** The policy for a turn's tools, by the principal of its message. */
export interface TurnPolicy {
  /** Whether a call runs, needs a user's approval, or is denied. */
  effectOf(caller: Envelope, call: ToolCallBlock): 'allow' | 'approve' | 'deny'
  /** Why a call is denied, for the audit log; `undefined` when it is not. */
  denialOf(caller: Envelope, call: ToolCallBlock): string | undefined
  /** Why an allowed call may not run now, in words for the model; `undefined` when it may. */
  refusalOf(caller: Envelope, call: ToolCallBlock): Promise<string | undefined>
  /** Whether a tool is not offered, because none of its calls could run. */
  isHidden(caller: Envelope, tool: OfferedTool): boolean
}

/** Dependencies of running turns. */
export interface TurnDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: OrchestratorEvents
  readonly views: SessionViews
  readonly heard: WorkerHeartbeats
  readonly tools: Tools
  readonly principals: Pick<PrincipalChecks, 'isInOrder'>
  /** The catalog's entry of a model by its name, else of the default model. */
  readonly model: (reference?: string) => Pick<ModelEntry, 'contextWindow'> | undefined
  readonly results: ResultTexts
  readonly systemPrompt: string
  readonly limits: Limits
  readonly policy: TurnPolicy
  /** `undefined`: this host has no audit log. */
  readonly audit: AuditLog | undefined
  readonly slots: Pick<TurnSlots, 'acquire'>
  /** Counts the tokens that a principal has used. */
  readonly chargeTokens: (principal: string, tokens: number) => void
  /** Called when the last supervisor that may run a call has died with it. */
  readonly pauseServer: (server: string) => void
  /** Called with the session's state at the beginning and the end of each turn. */
  readonly note: (session: SessionId, state: SessionState) => void
}

/** A turn that this process has claimed. */
export interface ClaimedTurn {
  readonly session: SessionId
  /** Log sequence of the user message. */
  readonly input: number
  readonly messageId: string
  readonly epoch: number
  readonly view: SessionView
  readonly writer: TurnWriter
  readonly envelope: Envelope
  /** Aborts when the user cancels the turn. */
  readonly cancelled: AbortSignal
  /** Aborts when this process is to hand the turn over. */
  readonly leaving: AbortSignal
  /** Aborts when this process no longer has the turn, for any reason. */
  readonly over: AbortSignal
}

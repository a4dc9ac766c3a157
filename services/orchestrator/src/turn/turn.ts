import type { Bus } from '@mcp-host/bus'
import type {
  CatalogTool,
  Envelope,
  ModelEntry,
  OfferedTool,
  SessionId,
  SessionState,
  ToolCallBlock,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { OfferedToolIndex } from '../tools/offered-tools.ts'
import type { ResultTexts } from '../results/result-texts.ts'
import type { OrchestratorEvents } from '../events.ts'
import type { WorkerHeartbeats } from './worker-heartbeats.ts'
import type { SessionView } from './session-view.ts'
import type { SessionViews } from './session-views.ts'
import type { TurnWriter } from './turn-writer.ts'

/** The tools of the host, as a turn needs them. */
export interface Tools {
  /** Those that can be offered now; waits a little for servers that are just starting. */
  offered(): Promise<readonly OfferedTool[]>
  /** The search index of the same tools. */
  index(): Promise<OfferedToolIndex>
  /** Configured servers that cannot be used now. */
  missing(): string[]
  /** Whether a server that is away may come back. */
  isConfigured(server: string): boolean
  annotationsOf(server: string, tool: string): CatalogTool['annotations']
  /** Whether calling it twice does no harm. */
  isRepeatable(call: ToolCallBlock): boolean
}

/** The limits of a turn. */
export interface Limits {
  readonly maxToolCalls: number
  /** All turns of a session together. 0: none. */
  readonly maxSessionToolCalls: number
  /** Without the time it waits for a user. 0: none. */
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
  /** Percent of the context. */
  readonly summarizationThreshold: number
  /** Newest messages that are never summarised. */
  readonly retainNewestMessages: number
  /** The tokens of one tool result in a prompt. */
  readonly maxResultTokens: number
  /** Models are offered a search, and the tools they have found, where there are more than this. */
  readonly maxOfferedTools: number
  readonly approvalTimeoutMs: number
}

/** Dependencies of running turns. */
export interface TurnDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: OrchestratorEvents
  readonly views: SessionViews
  readonly heard: WorkerHeartbeats
  readonly tools: Tools
  /** The catalog's entry of a model by its name, else of the default model. */
  readonly model: (reference?: string) => Pick<ModelEntry, 'contextWindow'> | undefined
  readonly results: ResultTexts
  readonly systemPrompt: string
  readonly limits: Limits
  /** Whether a user must allow the call before it runs. */
  readonly needsApproval: (call: ToolCallBlock) => boolean
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
  /** Aborts when the user wants the turn to end. */
  readonly cancelled: AbortSignal
  /** Aborts when this process is to leave the turn to another. */
  readonly leaving: AbortSignal
  /** Aborts when this process has lost the turn for any reason. */
  readonly over: AbortSignal
}

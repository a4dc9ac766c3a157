import type { Bus } from '@mcp-host/bus'
import type { Envelope, OfferedTool, SessionId, ToolCallBlock } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { OrchestratorEvents } from '../events.ts'
import type { Limits } from './decide.ts'
import type { SessionView } from './session-view.ts'
import type { TurnWriter } from './turn-writer.ts'

/** The tools of the host, as a turn needs them. */
export interface Tools {
  /** Those that can be offered now; waits a little for servers that are just starting. */
  offered(): Promise<readonly OfferedTool[]>
  /** Whether calling it twice does no harm. */
  isRepeatable(call: ToolCallBlock): boolean
}

/** What running turns takes. */
export interface TurnDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: OrchestratorEvents
  readonly tools: Tools
  readonly systemPrompt: string
  readonly limits: Limits
}

/** A turn that this process has claimed. */
export interface ClaimedTurn {
  readonly session: SessionId
  /** Log sequence of the user message. */
  readonly input: number
  readonly epoch: number
  readonly view: SessionView
  readonly writer: TurnWriter
  readonly envelope: Envelope
}

import type { ClientEvent, Message } from '@mcp-host/client'

type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>['payload']
type ToolPayload<State> = Extract<EventOf<'tool'>, { state: State }>
export type ToolResult = Omit<
  ToolPayload<'result'>,
  'state' | 'callId' | 'server' | 'tool' | 'content'
> & {
  /** Blocks of MCP. */
  readonly content: readonly Readonly<Record<string, unknown>>[]
}
export type ToolProgress = Pick<ToolPayload<'progress'>, 'progress' | 'total' | 'message'>
export type Question = Extract<EventOf<'input'>, { state: 'required' }>
export type Attachment = NonNullable<Message['metadata']['attachments']>[number]

/** One thing of an answer, in the order in which it came. */
export type Item =
  | { readonly kind: 'text' | 'reasoning'; readonly id: string; readonly text: string }
  | { readonly kind: 'note'; readonly id: string; readonly text: string }
  | ToolItem
  | QuestionItem

export interface ToolItem {
  readonly kind: 'tool'
  /** Id of the call. */
  readonly id: string
  readonly server: string | undefined
  readonly tool: string
  readonly arguments: unknown
  readonly progress?: ToolProgress
  readonly result?: ToolResult
}

export interface QuestionItem {
  readonly kind: 'question'
  readonly id: string
  readonly question: Question
  /** `undefined` while it is open. */
  readonly end?: {
    readonly how: 'accept' | 'decline' | 'cancel' | 'expired' | 'void'
    readonly by?: string | undefined
  }
}

/** A message of the user with its answer. */
export interface Turn {
  /** Id of the message. */
  readonly id: string
  readonly text: string
  /** When it was said, in epoch milliseconds; `undefined`: not known yet. */
  readonly at?: number | undefined
  readonly attachments: readonly Attachment[]
  /**
   * `unsent`: the host has not confirmed it. `refused`: the host does not take it; `error` says why. `withdrawn`: the
   * user took it back before it was answered.
   */
  readonly state: 'unsent' | 'refused' | 'queued' | 'withdrawn' | 'running' | 'waiting' | 'done'
  readonly items: readonly Item[]
  /** Ids of the message and its alternatives, the oldest first. */
  readonly branches: readonly string[]
  /** Id of the message in whose place it was said. */
  readonly replaces?: string | undefined
  /** Id of the message that it was said after. Without both it follows the newest message. */
  readonly follows?: string | undefined
  readonly outcome?: string | undefined
  readonly error?: string | undefined
  readonly usage?: Usage | undefined
  /** Position in the queue, from 1. */
  readonly position?: number | undefined
}

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number | undefined
  /** As `provider/model`. */
  readonly model: string
}

/** A turn without an answer. */
export function newTurn(id: string, text: string, given: Partial<Turn> = {}): Turn {
  return { id, text, attachments: [], state: 'queued', items: [], branches: [id], ...given }
}

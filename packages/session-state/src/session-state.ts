import type {
  ContextCompacted,
  Envelope,
  GenerationId,
  GenerationResult,
  ModelUsage,
  SessionSettings,
  ToolCallBlock,
  ToolCallId,
  ToolFinished,
  ToolStarted,
  TurnDone,
  TurnWaiting,
  UserMessage,
  SessionRecord,
} from '@mcp-host/contracts'
import type { AskedQuestion, QuestionEnd } from './question-end.ts'

/** A user message, with the envelope of its request. */
export interface Input extends UserMessage {
  readonly seq: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly envelope: Envelope
  /** Log sequence of the previous message on its branch; absent for the first one. */
  readonly parent?: number
  /** Epoch milliseconds at which a user cancelled its turn. */
  cancelledAt?: number
}

/** One tool call of a generation, with its outcome. */
export interface ToolCall {
  readonly block: ToolCallBlock
  /** The last started attempt; 0 before the first. */
  attempt: number
  /** The first start of each attempt, which runs the call. */
  readonly starts: ToolStarted[]
  /** Epoch milliseconds at which a user stopped this call alone. */
  cancelledAt?: number
  /** Set when the orchestrator closed the call without an answer of the server. */
  settled?: {
    readonly outcome: 'refused' | 'unknown' | 'cancelled' | 'answered'
    readonly message: string
    readonly time: number
  }
  result?: ToolFinished
  /** The answer of the user, if the call needed an approval. */
  approval?: Question
}

/** A question to the user. */
export interface Question {
  readonly asked: AskedQuestion
  /** The end of the question; absent while it is open. */
  end?: QuestionEnd
}

export interface Generation {
  readonly id: GenerationId
  /** Its turn, by the log sequence of the user message. */
  readonly turn: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  isVoid: boolean
  result?: GenerationResult
  /** Log sequence of the result. */
  resultSeq: number
  /** Epoch milliseconds. */
  endedAt: number
  readonly calls: Map<ToolCallId, ToolCall>
}

export interface Turn {
  readonly input: number
  orchestrator: string
  epoch: number
  /** Log sequence of the first claim. */
  readonly claimedSeq: number
  /** The time since which it runs without a wait for a user, in epoch milliseconds. */
  activeSince: number
  /** Claims since the last progress. */
  idleClaims: number
  /** Set while no orchestrator runs it. */
  waiting?: Pick<TurnWaiting, 'for' | 'until'>
  done?: Pick<TurnDone, 'outcome' | 'error' | 'message'> & {
    readonly seq: number
    readonly time: number
  }
  readonly generations: Generation[]
  /** Usage so far. */
  readonly usage: ModelUsage[]
}

/** The summary that replaces earlier messages in prompts. */
export type Checkpoint = Pick<ContextCompacted, 'how' | 'summary'>

/** The state that a session's log amounts to. */
export interface SessionState {
  /** The log sequence of the last applied entry. */
  seq: number
  /** Last sequence on the turn subject: the next turn event must be chained to it. */
  fence: number
  /** The number of folded entries, and of those in the newest snapshot. */
  entries: number
  snapshotEntries: number
  /** Epoch milliseconds of the first and the last entry; 0 while there is none. */
  createdAt: number
  updatedAt: number
  /** The author of the first message. */
  owner?: string
  /** The author of the first message that is not of an admin. Others but admins may not write. */
  author?: string
  /** The model that a user chose for messages that name none. */
  model?: string
  /** The session's own settings. */
  settings: SessionSettings
  /** The number of tool calls of its models so far. */
  toolCalls: number
  /** User messages in order, by log sequence; repeated ids are left out. */
  readonly inputs: Map<number, Input>
  /** Their sequences by the client's ids. */
  readonly messageIds: Map<string, number>
  /** The newest message, which the next message follows. */
  head?: number
  /** Messages whose turn is not done, in order. */
  readonly unfinished: Set<number>
  /** Turns by the log sequence of their user message, in the order of their claims. */
  readonly turns: Map<number, Turn>
  readonly generations: Map<GenerationId, Generation>
  readonly calls: Map<ToolCallId, ToolCall>
  /** Tool calls by id. */
  readonly questions: Map<string, Question>
  /** The open questions. */
  readonly openQuestions: Set<Question>
  /** Results of generations up to this log sequence are left out of prompts. */
  clearedThrough: number
  /** Checkpoints by the last message that they cover. In prompts, each replaces all messages up to that one. */
  readonly checkpoints: Map<number, Checkpoint>
  /** Usage of all turns, by model. */
  readonly usage: ModelUsage[]
  /** Turns up to this input are kept without their content; 0: all turns have their content. */
  prunedThrough: number
  isDeleted: boolean
}

/** Whether a turn of a session runs, or a question of it waits for a user; `undefined`: no message is unanswered. */
export function activityOf(
  state: Pick<SessionState, 'openQuestions' | 'unfinished'>,
): SessionRecord['activity'] {
  if (state.openQuestions.size > 0) return 'waiting'
  return state.unfinished.size > 0 ? 'running' : undefined
}

export function emptySession(): SessionState {
  return {
    seq: 0,
    fence: 0,
    entries: 0,
    snapshotEntries: 0,
    createdAt: 0,
    updatedAt: 0,
    settings: {},
    toolCalls: 0,
    inputs: new Map(),
    messageIds: new Map(),
    unfinished: new Set(),
    turns: new Map(),
    generations: new Map(),
    calls: new Map(),
    questions: new Map(),
    openQuestions: new Set(),
    clearedThrough: 0,
    checkpoints: new Map(),
    usage: [],
    prunedThrough: 0,
    isDeleted: false,
  }
}

/** The messages of the branch that ends with this one, oldest first. */
export function branchOf(state: SessionState, seq: number | undefined): Input[] {
  const branch: Input[] = []
  for (let at = seq; at !== undefined;) {
    const input = state.inputs.get(at)
    if (input === undefined) break
    branch.push(input)
    at = input.parent
  }
  return branch.toReversed()
}

import type { Envelope } from '../envelope.ts'
import type { GenerationId, ToolCallId } from '../ids.ts'
import type { ModelUsage, ToolCallBlock } from '../model/content.ts'
import type { AddedUsage } from './add-usage.ts'
import { addUsage } from './add-usage.ts'
import type { ControlFact } from './control.ts'
import type { GenerationResult } from './generation-result.ts'
import type { LogEntry } from './log-entry.ts'
import type { AskedQuestion, QuestionEnd } from './question.ts'
import { questionEnd } from './question.ts'
import type { SessionSettings } from './session-settings.ts'
import { changeSettings } from './session-settings.ts'
import type { ToolFact, ToolFinished, ToolStarted } from './tool-fact.ts'
import type { ContextCompacted, TurnDone, TurnEvent, TurnWaiting } from './turn-event.ts'
import type { UserMessage } from './user-message.ts'

/** A user message and the request it came with. */
export interface Input extends UserMessage {
  readonly seq: number
  /** Epoch milliseconds. */
  readonly time: number
  readonly envelope: Envelope
  /** Log sequence of the message before it on its branch; absent for a first one. */
  readonly parent?: number
  /** Epoch milliseconds at which a user cancelled its turn. */
  cancelledAt?: number
}

/** One tool call of a generation and what became of it. */
export interface ToolCall {
  readonly block: ToolCallBlock
  /** The attempt that was started last, 0 while none was. */
  attempt: number
  /** The first start of each attempt, which is the one that runs. */
  readonly starts: ToolStarted[]
  /** Set when the orchestrator closed the call without an answer of the server. */
  settled?: {
    readonly outcome: 'refused' | 'unknown' | 'cancelled' | 'answered'
    readonly message: string
    readonly time: number
  }
  result?: ToolFinished
  /** Whether the user allows it, where that was asked. */
  approval?: Question
}

/** A question to the user. */
export interface Question {
  readonly asked: AskedQuestion
  /** Absent while it is open. */
  end?: QuestionEnd
}

export interface Generation {
  readonly id: GenerationId
  /** Its turn, by the input's log sequence. */
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
  /** Epoch milliseconds since which it runs without having waited for a user. */
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
  /** Last log sequence taken in. */
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
  /** The model that a user chose for messages that name none. */
  model?: string
  /** The session's own settings. */
  settings: SessionSettings
  /** Tool calls of its models so far. */
  toolCalls: number
  /** User messages in order, by log sequence; repeated ids are left out. */
  readonly inputs: Map<number, Input>
  /** Their sequences by the client's ids. */
  readonly messageIds: Map<string, number>
  /** The newest message: what is said next follows on it. */
  head?: number
  /** Messages whose turn is not done, in order. */
  readonly unfinished: Set<number>
  /** Turns in the order they were claimed, by their input's log sequence. */
  readonly turns: Map<number, Turn>
  readonly generations: Map<GenerationId, Generation>
  readonly calls: Map<ToolCallId, ToolCall>
  /** By their ids. */
  readonly questions: Map<string, Question>
  /** The open ones. */
  readonly openQuestions: Set<Question>
  /** Results of generations up to this log sequence are cleared from what models are sent. */
  clearedThrough: number
  /** By the last message it covers: what models are sent in place of all up to it. */
  readonly checkpoints: Map<number, Checkpoint>
  /** Usage of all turns, by model. */
  readonly usage: ModelUsage[]
  /** Turns up to this input are kept without what was said in them; 0: all are whole. */
  prunedThrough: number
  isDeleted: boolean
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

/** Takes in the next entry of the log. Entries that were taken in before change nothing. */
export function applyEntry(state: SessionState, entry: LogEntry): void {
  if (entry.seq <= state.seq) return
  state.seq = entry.seq
  state.entries++
  state.updatedAt = entry.time
  if (state.createdAt === 0) state.createdAt = entry.time
  endQuestions(state, entry)
  switch (entry.kind) {
    case 'input':
      applyInput(state, entry)
      return
    case 'control':
      applyControl(state, entry.fact, entry.time)
      return
    case 'turn':
      state.fence = entry.seq
      applyTurnEvent(state, entry.fact, entry)
      return
    case 'generation':
      applyResult(state, entry.fact, entry)
      return
    case 'tool':
      applyToolFact(state, entry.fact)
      return
    case 'unreadable':
      // Whatever it says, the next turn event is chained to it.
      if (entry.of === 'turn') state.fence = entry.seq
      return
    default:
      entry satisfies never
  }
}

function applyInput(state: SessionState, entry: LogEntry & { kind: 'input' }): void {
  const { fact, seq, time, envelope } = entry
  if (state.messageIds.has(fact.id)) return
  const replaced =
    fact.replaces === undefined
      ? undefined
      : state.inputs.get(state.messageIds.get(fact.replaces) ?? 0)
  const parent = replaced === undefined ? state.head : replaced.parent
  // A replaced message and all later ones need no answer.
  const from = replaced?.seq ?? Infinity
  for (const each of state.unfinished) {
    const input = each < from ? undefined : state.inputs.get(each)
    if (input !== undefined) input.cancelledAt ??= time
  }
  const { model = state.model } = fact
  state.owner ??= envelope.principal
  state.messageIds.set(fact.id, seq)
  state.inputs.set(seq, {
    ...fact,
    ...(model === undefined ? {} : { model }),
    seq,
    time,
    envelope,
    ...(parent === undefined ? {} : { parent }),
    ...(state.isDeleted ? { cancelledAt: time } : {}),
  })
  state.unfinished.add(seq)
  state.head = seq
}

function applyControl(state: SessionState, fact: ControlFact, time: number): void {
  switch (fact.type) {
    case 'input-answered':
      // It ends a question and means nothing else.
      return
    case 'cancel-requested': {
      const seq =
        fact.messageId === undefined ? nextInput(state) : state.messageIds.get(fact.messageId)
      if (seq === undefined || !state.unfinished.has(seq)) return
      const input = state.inputs.get(seq)
      if (input !== undefined) input.cancelledAt ??= time
      return
    }
    case 'model-chosen':
      if (fact.model === undefined) delete state.model
      else state.model = fact.model
      return
    case 'settings-chosen':
      state.settings = changeSettings(state.settings, fact)
      return
    case 'session-deleted':
      state.isDeleted = true
      for (const seq of state.unfinished) {
        const input = state.inputs.get(seq)
        if (input !== undefined) input.cancelledAt ??= time
      }
      return
    default:
      fact satisfies never
  }
}

function applyTurnEvent(
  state: SessionState,
  event: TurnEvent,
  { seq, time }: { seq: number; time: number },
): void {
  if (event.type === 'turn-claimed') return claimTurn(state, event, seq, time)
  const turn = state.turns.get(event.turn)
  if (turn === undefined) return
  switch (event.type) {
    case 'generation-started': {
      const dead = event.voids === undefined ? undefined : state.generations.get(event.voids)
      const started = startGeneration(state, turn, event.generation, time)
      // Taken for dead while its result was on the way, which stands before this: then it is this one that
      // counts for nothing.
      if (dead?.result !== undefined && event.reason === undefined) started.isVoid = true
      else if (dead !== undefined) dead.isVoid = true
      return
    }
    case 'tool-settled': {
      turn.idleClaims = 0
      const call = state.calls.get(event.call)
      if (call !== undefined && call.result === undefined)
        call.settled ??= { outcome: event.outcome, message: event.message, time }
      return
    }
    case 'approval-required': {
      turn.idleClaims = 0
      const call = state.calls.get(event.call)
      if (call === undefined) return
      call.approval ??= ask(state, event)
      return
    }
    case 'turn-waiting':
      turn.idleClaims = 0
      turn.waiting = { for: event.for, until: event.until }
      return
    case 'context-compacted':
      turn.idleClaims = 0
      if (event.usage !== undefined) addTurnUsage(state, turn, [toAdded(event.usage)])
      if (event.how === 'cleared')
        state.clearedThrough = Math.max(state.clearedThrough, event.through)
      else {
        const { how, summary } = event
        state.checkpoints.set(event.through, { how, ...(summary === undefined ? {} : { summary }) })
      }
      return
    case 'turn-done': {
      const { outcome, voids, error, message } = event
      const cut = voids === undefined ? undefined : state.generations.get(voids)
      if (cut !== undefined) cut.isVoid = true
      turn.done ??= {
        seq,
        time,
        outcome,
        ...(error === undefined ? {} : { error }),
        ...(message === undefined ? {} : { message }),
      }
      delete turn.waiting
      state.unfinished.delete(event.turn)
      return
    }
    default:
      event satisfies never
  }
}

function claimTurn(
  state: SessionState,
  event: TurnEvent & { type: 'turn-claimed' },
  seq: number,
  time: number,
): void {
  const turn = state.turns.get(event.turn) ?? {
    input: event.turn,
    orchestrator: '',
    epoch: 0,
    claimedSeq: seq,
    activeSince: time,
    idleClaims: 0,
    generations: [],
    usage: [],
  }
  if (turn.waiting?.for === 'approval') turn.activeSince = time
  delete turn.waiting
  turn.orchestrator = event.orchestrator
  turn.epoch = event.epoch
  turn.idleClaims++
  state.turns.set(event.turn, turn)
  if (event.generation !== undefined) startGeneration(state, turn, event.generation, time)
}

function startGeneration(
  state: SessionState,
  turn: Turn,
  id: GenerationId,
  time: number,
): Generation {
  const generation: Generation = {
    id,
    turn: turn.input,
    startedAt: time,
    isVoid: false,
    resultSeq: 0,
    endedAt: 0,
    calls: new Map(),
  }
  turn.generations.push(generation)
  state.generations.set(id, generation)
  return generation
}

function applyResult(
  state: SessionState,
  result: GenerationResult,
  { seq, time }: { seq: number; time: number },
): void {
  const generation = state.generations.get(result.generation)
  if (generation === undefined || generation.isVoid || generation.result !== undefined) return
  const turn = state.turns.get(generation.turn)
  // The history of a turn that is over does not change.
  if (turn?.done !== undefined) return
  generation.result = result
  generation.resultSeq = seq
  generation.endedAt = time
  if (turn !== undefined) turn.idleClaims = 0
  addTurnUsage(state, turn, [result])
  if (result.outcome !== 'completed') return
  for (const block of result.content) {
    if (block.type !== 'tool-call') continue
    const call: ToolCall = { block, attempt: 0, starts: [] }
    generation.calls.set(block.id, call)
    state.toolCalls++
    state.calls.set(block.id, call)
  }
}

function addTurnUsage(
  state: SessionState,
  turn: Turn | undefined,
  added: readonly AddedUsage[],
): void {
  for (const each of added) {
    addUsage(state.usage, each)
    if (turn !== undefined) addUsage(turn.usage, each)
  }
}

function toAdded({ provider, model, generations, ...usage }: ModelUsage): AddedUsage {
  return { provider, model, generations, usage }
}

/** The turn that a tool call belongs to. */
function turnOf(state: SessionState, call: ToolCallId): Turn | undefined {
  const generation = state.generations.get(call.slice(0, call.lastIndexOf('-')) as GenerationId)
  return generation && state.turns.get(generation.turn)
}

function applyToolFact(state: SessionState, fact: ToolFact): void {
  const call = state.calls.get(fact.call)
  if (call === undefined) return
  // Turns run one at a time: late facts of one that is over say nothing of the next.
  const running = state.turns.get(nextInput(state) ?? 0)
  if (running?.generations.some(({ calls }) => calls.has(fact.call)) === true) {
    running.idleClaims = 0
  }
  switch (fact.type) {
    case 'tool-started':
      if (!call.starts.some(({ attempt }) => attempt === fact.attempt)) call.starts.push(fact)
      call.attempt = Math.max(call.attempt, fact.attempt)
      return
    case 'tool-finished':
      // The first reported end of a call counts, while its turn runs.
      if (call.settled === undefined && turnOf(state, fact.call)?.done === undefined) {
        call.result ??= fact
      }
      if (fact.usage !== undefined)
        addTurnUsage(state, turnOf(state, fact.call), fact.usage.map(toAdded))
      return
    case 'input-required':
      // Questions of a finished call, or of an abandoned attempt, need no answer.
      if (call.settled !== undefined || call.result !== undefined) return
      if (fact.attempt < call.attempt) return
      if (!state.questions.has(fact.id)) ask(state, fact)
      return
    case 'input-closed':
      return
    default:
      fact satisfies never
  }
}

function ask(state: SessionState, asked: AskedQuestion): Question {
  const question: Question = { asked }
  state.questions.set(asked.id, question)
  state.openQuestions.add(question)
  return question
}

function endQuestions(state: SessionState, entry: LogEntry): void {
  for (const question of state.openQuestions) {
    const end = questionEnd(question.asked, entry)
    if (end === undefined) continue
    question.end = end
    state.openQuestions.delete(question)
  }
}

/** The first user message whose turn is not done, as its log sequence. */
export function nextInput(state: SessionState): number | undefined {
  return state.unfinished.values().next().value
}

/** The messages from the first one to this on its branch, oldest first. */
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

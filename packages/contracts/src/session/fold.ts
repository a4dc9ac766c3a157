import type { Envelope } from '../envelope.ts'
import type { GenerationId, ToolCallId } from '../ids.ts'
import type { ToolCallBlock } from '../model/content.ts'
import type { GenerationResult } from './generation-result.ts'
import type { LogEntry } from './log-entry.ts'
import type { QuestionEnd } from './question.ts'
import { questionEnd } from './question.ts'
import type { InputRequired, ToolFact, ToolFinished } from './tool-fact.ts'
import type { TurnEvent, TurnOutcome } from './turn-event.ts'
import type { UserMessage } from './user-message.ts'

/** A user message and the request it came with. */
export interface Input extends UserMessage {
  readonly envelope: Envelope
}

/** One tool call of a generation and what became of it. */
export interface ToolCall {
  readonly block: ToolCallBlock
  /** The attempt that was started last, 0 while none was. */
  attempt: number
  /** Set when the orchestrator closed the call without an answer of the server. */
  settled?: { readonly outcome: 'refused' | 'unknown'; readonly message: string }
  result?: ToolFinished
}

/** What a server asked the user. */
export interface Question {
  readonly asked: InputRequired
  /** Absent while it is open. */
  end?: QuestionEnd
}

export interface Generation {
  readonly id: GenerationId
  isVoid: boolean
  result?: GenerationResult
  /** Log sequence of the result. */
  resultSeq: number
  readonly calls: Map<ToolCallId, ToolCall>
}

export interface Turn {
  readonly input: number
  orchestrator: string
  epoch: number
  outcome?: TurnOutcome
  readonly generations: Generation[]
}

/** What a session's log amounts to. */
export interface SessionState {
  /** Last log sequence taken in. */
  seq: number
  /** Last sequence on the turn subject: the next turn event must be chained to it. */
  fence: number
  /** User messages in order, by log sequence; repeated ids are left out. */
  readonly inputs: Map<number, Input>
  /** Turns in the order they were claimed, by their input's log sequence. */
  readonly turns: Map<number, Turn>
  readonly messageIds: Set<string>
  readonly generations: Map<GenerationId, Generation>
  readonly calls: Map<ToolCallId, ToolCall>
  /** By their ids. */
  readonly questions: Map<string, Question>
}

export function emptySession(): SessionState {
  return {
    seq: 0,
    fence: 0,
    inputs: new Map(),
    turns: new Map(),
    messageIds: new Set(),
    generations: new Map(),
    calls: new Map(),
    questions: new Map(),
  }
}

/** Takes in the next entry of the log. Entries that were taken in before change nothing. */
export function applyEntry(state: SessionState, entry: LogEntry): void {
  if (entry.seq <= state.seq) return
  state.seq = entry.seq
  endQuestions(state, entry)
  switch (entry.kind) {
    case 'input':
      if (state.messageIds.has(entry.fact.id)) return
      state.messageIds.add(entry.fact.id)
      state.inputs.set(entry.seq, { ...entry.fact, envelope: entry.envelope })
      return
    case 'control':
      // Answers end questions and mean nothing else.
      return
    case 'turn':
      state.fence = entry.seq
      applyTurnEvent(state, entry.fact)
      return
    case 'generation':
      applyResult(state, entry.fact, entry.seq)
      return
    case 'tool':
      applyToolFact(state, entry.fact)
      return
    default:
      entry satisfies never
  }
}

function applyTurnEvent(state: SessionState, event: TurnEvent): void {
  switch (event.type) {
    case 'turn-claimed': {
      const turn = state.turns.get(event.turn) ?? {
        input: event.turn,
        orchestrator: '',
        epoch: 0,
        generations: [],
      }
      turn.orchestrator = event.orchestrator
      turn.epoch = event.epoch
      state.turns.set(event.turn, turn)
      if (event.generation !== undefined) startGeneration(state, turn, event.generation)
      return
    }
    case 'generation-started': {
      const turn = state.turns.get(event.turn)
      const dead = event.voids === undefined ? undefined : state.generations.get(event.voids)
      if (dead !== undefined) dead.isVoid = true
      if (turn !== undefined) startGeneration(state, turn, event.generation)
      return
    }
    case 'tool-settled': {
      const call = state.calls.get(event.call)
      if (call !== undefined && call.result === undefined)
        call.settled ??= { outcome: event.outcome, message: event.message }
      return
    }
    case 'turn-done': {
      const turn = state.turns.get(event.turn)
      if (turn !== undefined) turn.outcome = event.outcome
      return
    }
    default:
      event satisfies never
  }
}

function startGeneration(state: SessionState, turn: Turn, id: GenerationId): void {
  const generation: Generation = { id, isVoid: false, resultSeq: 0, calls: new Map() }
  turn.generations.push(generation)
  state.generations.set(id, generation)
}

function applyResult(state: SessionState, result: GenerationResult, seq: number): void {
  const generation = state.generations.get(result.generation)
  if (generation === undefined || generation.isVoid || generation.result !== undefined) return
  generation.result = result
  generation.resultSeq = seq
  if (result.outcome !== 'completed') return
  for (const block of result.content) {
    if (block.type !== 'tool-call') continue
    const call: ToolCall = { block, attempt: 0 }
    generation.calls.set(block.id, call)
    state.calls.set(block.id, call)
  }
}

function applyToolFact(state: SessionState, fact: ToolFact): void {
  const call = state.calls.get(fact.call)
  if (call === undefined) return
  switch (fact.type) {
    case 'tool-started':
      call.attempt = Math.max(call.attempt, fact.attempt)
      return
    case 'tool-finished':
      // The first end of a call counts, whoever reported it.
      if (call.settled === undefined) call.result ??= fact
      return
    case 'input-required':
      // Of a call that is over nobody waits for an answer, nor of an attempt that was given up.
      if (call.settled !== undefined || call.result !== undefined) return
      if (fact.attempt < call.attempt) return
      if (!state.questions.has(fact.id)) state.questions.set(fact.id, { asked: fact })
      return
    case 'input-closed':
      return
    default:
      fact satisfies never
  }
}

function endQuestions(state: SessionState, entry: LogEntry): void {
  for (const question of state.questions.values()) {
    if (question.end !== undefined) continue
    const end = questionEnd(question.asked, entry)
    if (end !== undefined) question.end = end
  }
}

/** The first user message whose turn is not done, as its log sequence. */
export function nextInput(state: SessionState): number | undefined {
  return state.inputs.keys().find((seq) => state.turns.get(seq)?.outcome === undefined)
}

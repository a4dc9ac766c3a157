import type {
  AddedUsage,
  ControlFact,
  Envelope,
  GenerationId,
  GenerationResult,
  LogEntry,
  ModelUsage,
  ToolCallId,
  ToolFact,
  TurnEvent,
  UserMessage,
} from '@mcp-host/contracts'
import { addUsage, changeSettings, isAdmin } from '@mcp-host/contracts'
import type { AskedQuestion } from './question-end.ts'
import { questionEnd } from './question-end.ts'
import { cancelledBy, isRepeated, nextInput } from './queue.ts'
import { isAbandoned, isStillborn } from './rules.ts'
import type { Generation, Question, SessionState, ToolCall, Turn } from './session-state.ts'

/** The place of messages that are on no branch. No entry has this sequence. */
const NO_BRANCH = -1

/** Applies the next entry of the log. An entry that was applied before changes nothing. */
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
      cancel(state, cancelledBy(state, entry), entry.time)
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
      // The next turn event is chained to this entry, even if this version cannot read it.
      if (entry.of === 'turn') state.fence = entry.seq
      return
    default:
      entry satisfies never
  }
}

function applyInput(state: SessionState, entry: LogEntry & { kind: 'input' }): void {
  const { fact, seq, time, envelope } = entry
  if (isRepeated(state, fact.id)) return
  if (isForeign(state, envelope)) {
    // Its turn ends at once. It is on no branch and its text is left out, so that no model gets it.
    const refused = { id: fact.id, text: '', parent: NO_BRANCH, cancelledAt: time }
    state.inputs.set(seq, { ...refused, seq, time, envelope })
    state.messageIds.set(fact.id, seq)
    state.unfinished.add(seq)
    return
  }
  const parent = parentOf(state, fact)
  cancel(state, cancelledBy(state, entry), time)
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

/**
 * Whether a message is of a principal who may not write here. Gateways refuse such messages; this holds also where one
 * of them does not. Admins may write into every session, also before its owner does.
 */
function isForeign(state: SessionState, { principal, roles, scopes }: Envelope): boolean {
  if (isAdmin({ roles, scopes })) return false
  state.author ??= principal
  return state.author !== principal
}

/** The log sequence of the message before a new one on its branch; `undefined` for the first one. */
function parentOf(state: SessionState, { replaces, follows }: UserMessage): number | undefined {
  const replaced = state.inputs.get(state.messageIds.get(replaces ?? '') ?? 0)
  if (replaced !== undefined) return replaced.parent
  return state.messageIds.get(follows ?? '') ?? state.head
}

function cancel(state: SessionState, messages: readonly number[], time: number): void {
  for (const seq of messages) {
    const input = state.inputs.get(seq)
    if (input !== undefined) input.cancelledAt ??= time
  }
}

function applyControl(state: SessionState, fact: ControlFact, time: number): void {
  switch (fact.type) {
    case 'input-answered':
    case 'cancel-requested':
      // Control facts of this kind only end questions and turns.
      return
    case 'call-cancel-requested': {
      const call = state.calls.get(fact.call)
      if (call !== undefined) call.cancelledAt ??= time
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
      if (isStillborn(event, () => dead?.result !== undefined)) started.isVoid = true
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
  // A finished turn does not change.
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
  // Turns run one at a time, so late facts of a finished turn do not affect the next.
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
      // The first reported end of a call counts, if its turn is still running.
      if (call.settled === undefined && turnOf(state, fact.call)?.done === undefined) {
        call.result ??= fact
      }
      if (fact.usage !== undefined)
        addTurnUsage(state, turnOf(state, fact.call), fact.usage.map(toAdded))
      return
    case 'input-required':
      // Questions of a finished call, or of an abandoned attempt, need no answer.
      if (call.settled !== undefined || call.result !== undefined) return
      if (isAbandoned(fact, call.attempt)) return
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

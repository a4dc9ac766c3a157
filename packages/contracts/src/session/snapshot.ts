import type { GenerationId, ToolCallId } from '../ids.ts'
import type { Checkpoint, Generation, Input, SessionState, ToolCall, Turn } from './fold.ts'
import { branchOf } from './fold.ts'
import type { TurnOutcome } from './turn-event.ts'

/** Raise it when the state changes its shape: snapshots of another version are not read. */
const SNAPSHOT_VERSION = 2

/** The size of finished turns that a snapshot keeps whole, the newest, in characters of JSON. */
const KEPT_LENGTH = 1024 * 1024

interface FlatGeneration extends Omit<Generation, 'calls'> {
  readonly calls: readonly ToolCall[]
}

interface FlatTurn extends Omit<Turn, 'generations'> {
  readonly generations: readonly FlatGeneration[]
}

/** A turn that is done, without what was said in it, and its message. */
type Place = readonly [
  seq: number,
  time: number,
  id: string,
  parent: number,
  claimedSeq: number,
  doneSeq: number,
  doneTime: number,
  outcome: TurnOutcome,
]

type Indexes = 'messageIds' | 'unfinished' | 'generations' | 'calls' | 'questions' | 'openQuestions'

interface Snapshot extends Omit<SessionState, Indexes | 'inputs' | 'turns' | 'checkpoints'> {
  readonly version: number
  readonly places: readonly Place[]
  readonly inputs: readonly Input[]
  readonly turns: readonly FlatTurn[]
  readonly checkpoints: readonly (readonly [number, Checkpoint])[]
}

/**
 * The state as JSON, to start from instead of the whole log. Turns that models are not sent keep only their places:
 * those before a checkpoint, on other branches, and beyond the size limit. `undefined` while a question is open, which
 * will end soon, and for a deleted session.
 */
export function toSnapshot(state: SessionState): string | undefined {
  const { inputs, turns, openQuestions, checkpoints } = state
  if (openQuestions.size > 0 || state.isDeleted) return undefined
  const branch = branchOf(state, state.head)
  const covered = branch.findLastIndex(({ seq }) => checkpoints.has(seq))
  const told = new Set(branch.slice(covered + 1).map(({ seq }) => seq))
  const whole = new Map<number, FlatTurn | undefined>()
  const places: Place[] = []
  let length = 0
  for (const input of Array.from(inputs.values()).toReversed()) {
    const turn = turns.get(input.seq)
    const flat = turn && flatTurn(turn)
    if (told.has(input.seq)) length += input.text.length + JSON.stringify(flat ?? null).length
    // Messages that were left out before have no text.
    const isWhole = told.has(input.seq) && input.text !== '' && length <= KEPT_LENGTH
    if (turn?.done === undefined || isWhole) whole.set(input.seq, flat)
    else {
      const { seq, time, id, parent = 0 } = input
      const { done, claimedSeq } = turn
      places.push([seq, time, id, parent, claimedSeq, done.seq, done.time, done.outcome])
    }
  }
  const snapshot: Snapshot = {
    ...kept(state),
    version: SNAPSHOT_VERSION,
    prunedThrough: places[0]?.[0] ?? 0,
    places: places.toReversed(),
    inputs: Array.from(inputs.values()).filter(({ seq }) => whole.has(seq)),
    // In the order they were claimed, which may differ.
    turns: Array.from(turns.values()).flatMap(({ input }) => whole.get(input) ?? []),
    checkpoints: Array.from(checkpoints),
  }
  return JSON.stringify(snapshot)
}

function kept(
  state: SessionState,
): Omit<SessionState, Indexes | 'inputs' | 'turns' | 'checkpoints'> {
  const {
    seq,
    fence,
    entries,
    createdAt,
    updatedAt,
    owner,
    model,
    settings,
    toolCalls,
    head,
    clearedThrough,
    usage,
    isDeleted,
  } = state
  return {
    seq,
    fence,
    entries,
    snapshotEntries: entries,
    createdAt,
    updatedAt,
    ...(owner === undefined ? {} : { owner }),
    ...(model === undefined ? {} : { model }),
    settings,
    toolCalls,
    ...(head === undefined ? {} : { head }),
    clearedThrough,
    usage,
    prunedThrough: 0,
    isDeleted,
  }
}

function flatTurn(turn: Turn): FlatTurn {
  const generations = turn.generations.map((generation) => ({
    ...generation,
    calls: Array.from(generation.calls.values()),
  }))
  return { ...turn, generations }
}

/** The state a snapshot was made of, or `undefined` when it is of another version. */
export function fromSnapshot(text: string): SessionState | undefined {
  const { version, places, ...snapshot } = JSON.parse(text) as Snapshot
  if (version !== SNAPSHOT_VERSION) return undefined
  const generations = new Map<GenerationId, Generation>()
  const calls = new Map<ToolCallId, ToolCall>()
  const wholeTurns = snapshot.turns.map((turn): Turn => {
    const own = turn.generations.map((flat): Generation => {
      const ownCalls = new Map(flat.calls.map((call) => [call.block.id, call]))
      const generation = { ...flat, calls: ownCalls }
      generations.set(flat.id, generation)
      for (const [id, call] of ownCalls) calls.set(id, call)
      return generation
    })
    return { ...turn, generations: own }
  })
  const inputs = [
    ...places.map((place) => placedInput(place, snapshot.owner)),
    ...snapshot.inputs,
  ].toSorted((one, other) => one.seq - other.seq)
  const turns = new Map(
    [...places.map(placedTurn), ...wholeTurns]
      .toSorted((one, other) => one.claimedSeq - other.claimedSeq)
      .map((turn) => [turn.input, turn]),
  )
  return {
    ...snapshot,
    inputs: new Map(inputs.map((input) => [input.seq, input])),
    messageIds: new Map(inputs.map(({ id, seq }) => [id, seq])),
    unfinished: new Set(
      inputs.map(({ seq }) => seq).filter((seq) => turns.get(seq)?.done === undefined),
    ),
    turns,
    generations,
    calls,
    questions: new Map(),
    openQuestions: new Set(),
    checkpoints: new Map(snapshot.checkpoints),
  }
}

function placedInput([seq, time, id, parent]: Place, principal = ''): Input {
  const envelope = { requestId: '', traceparent: '', principal }
  return { seq, time, id, text: '', envelope, ...(parent === 0 ? {} : { parent }) }
}

function placedTurn([input, , , , claimedSeq, seq, time, outcome]: Place): Turn {
  return {
    input,
    orchestrator: '',
    epoch: 1,
    claimedSeq,
    activeSince: 0,
    idleClaims: 0,
    done: { seq, time, outcome },
    generations: [],
    usage: [],
  }
}

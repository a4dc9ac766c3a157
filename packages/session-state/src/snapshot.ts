import type { GenerationId, ToolCallId, TurnOutcome } from '@mcp-host/contracts'
import { isLeftOut } from './is-left-out.ts'
import type {
  Checkpoint,
  Generation,
  Input,
  SessionState,
  ToolCall,
  Turn,
} from './session-state.ts'
import { branchOf } from './session-state.ts'

/**
 * The version of snapshots. Raise it when the shape of the state changes, or when a log folds to another state: other
 * versions are not read.
 */
const SNAPSHOT_VERSION = 6

/** The limit for finished turns that a snapshot keeps with their content, newest first, in characters of JSON. */
const MAX_WHOLE_LENGTH = 1024 * 1024

interface FlatGeneration extends Omit<Generation, 'calls'> {
  readonly calls: readonly ToolCall[]
}

interface FlatTurn extends Omit<Turn, 'generations'> {
  readonly generations: readonly FlatGeneration[]
}

/** A finished turn without its content, and its message. */
type Outline = readonly [
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
  readonly places: readonly Outline[]
  readonly inputs: readonly Input[]
  readonly turns: readonly FlatTurn[]
  readonly checkpoints: readonly (readonly [number, Checkpoint])[]
}

/**
 * The state as JSON, so that a reader need not fold the whole log. Turns that are not in prompts keep only their
 * outlines: those before a checkpoint, on other branches, and beyond the size limit. `undefined` for a deleted session,
 * and while a question is open, which ends soon.
 */
export function toSnapshot(state: SessionState): string | undefined {
  const { inputs, turns, openQuestions, checkpoints } = state
  if (openQuestions.size > 0 || state.isDeleted) return undefined
  const branch = branchOf(state, state.head)
  const covered = branch.findLastIndex(({ seq }) => checkpoints.has(seq))
  const sent = new Set(branch.slice(covered + 1).map(({ seq }) => seq))
  const whole = new Map<number, FlatTurn | undefined>()
  const places: Outline[] = []
  let length = 0
  for (const input of Array.from(inputs.values()).toReversed()) {
    const turn = turns.get(input.seq)
    const flat = turn && flatTurn(turn)
    if (sent.has(input.seq)) length += input.text.length + JSON.stringify(flat ?? null).length
    const isWhole = sent.has(input.seq) && !isLeftOut(input) && length <= MAX_WHOLE_LENGTH
    if (turn?.done === undefined || isWhole) whole.set(input.seq, flat)
    else {
      const { seq, time, id, parent = 0 } = input
      const { done, claimedSeq } = turn
      places.push([seq, time, id, parent, claimedSeq, done.seq, done.time, done.outcome])
    }
  }
  const snapshot: Snapshot = {
    ...plainFields(state),
    version: SNAPSHOT_VERSION,
    prunedThrough: places[0]?.[0] ?? 0,
    places: places.toReversed(),
    inputs: Array.from(inputs.values()).filter(({ seq }) => whole.has(seq)),
    // In the order of the claims, which may differ from the order of messages.
    turns: Array.from(turns.values()).flatMap(({ input }) => whole.get(input) ?? []),
    checkpoints: Array.from(checkpoints),
  }
  return JSON.stringify(snapshot)
}

function plainFields(
  state: SessionState,
): Omit<SessionState, Indexes | 'inputs' | 'turns' | 'checkpoints'> {
  const {
    seq,
    fence,
    entries,
    createdAt,
    updatedAt,
    owner,
    author,
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
    ...(author === undefined ? {} : { author }),
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

/** The state of a snapshot, or `undefined` for another version. */
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
    ...places.map((outline) => outlinedInput(outline, snapshot.owner)),
    ...snapshot.inputs,
  ].toSorted((one, other) => one.seq - other.seq)
  const turns = new Map(
    [...places.map(outlinedTurn), ...wholeTurns]
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

function outlinedInput([seq, time, id, parent]: Outline, principal = ''): Input {
  const envelope = { requestId: '', traceparent: '', principal }
  return { seq, time, id, text: '', envelope, ...(parent === 0 ? {} : { parent }) }
}

function outlinedTurn([input, , , , claimedSeq, seq, time, outcome]: Outline): Turn {
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

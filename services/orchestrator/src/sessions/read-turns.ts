import type { SessionLog } from '@mcp-host/bus'
import type { SessionId } from '@mcp-host/contracts'
import type { Input, SessionState, Turn } from '@mcp-host/session-state'
import { applyEntry, emptySession } from '@mcp-host/session-state'

/** A user message and its turn. */
export interface SaidTurn {
  readonly input: Input
  readonly turn: Turn | undefined
}

/** The number of turns that are read from the log at a time, since a page may need fewer than all. */
const BATCH = 20

/** The turns of some messages with all their entries, the last turn first. */
export async function* readTurns(
  log: SessionLog,
  session: SessionId,
  state: SessionState,
  inputs: readonly Input[],
): AsyncGenerator<SaidTurn> {
  for (let end = inputs.length; end > 0; end -= BATCH) {
    const batch = inputs.slice(Math.max(0, end - BATCH), end)
    const pruned = batch.filter(
      ({ seq }) => seq <= state.prunedThrough && state.turns.get(seq)?.done !== undefined,
    )
    const read = await foldOnly(log, session, state, pruned)
    for (const input of batch.toReversed()) {
      const { seq } = input
      yield {
        input: read.inputs.get(seq) ?? input,
        turn: read.turns.get(seq) ?? state.turns.get(seq),
      }
    }
  }
}

/** The fold of the entries of these turns alone. */
async function foldOnly(
  log: SessionLog,
  session: SessionId,
  state: SessionState,
  inputs: readonly Input[],
): Promise<SessionState> {
  const ranges = rangesOf(state, new Set(inputs.map(({ seq }) => seq)))
  const parts = await Promise.all(
    ranges.map(({ after, until }) => log.read(session, after, { until })),
  )
  const folded = emptySession()
  for (const entry of parts.flat()) applyEntry(folded, entry)
  return folded
}

/** The ranges of these turns in the log. Adjacent turns share one. */
function rangesOf(
  { inputs, turns }: SessionState,
  wanted: ReadonlySet<number>,
): { after: number; until: number }[] {
  const ranges: { after: number; until: number }[] = []
  let neighbour: { after: number; until: number } | undefined
  for (const seq of wanted.size === 0 ? [] : inputs.keys()) {
    const until = turns.get(seq)?.done?.seq ?? seq
    if (!wanted.has(seq)) neighbour = undefined
    else if (neighbour !== undefined) neighbour.until = Math.max(neighbour.until, until)
    else ranges.push((neighbour = { after: seq - 1, until }))
  }
  return ranges
}

import type { LogEntry, ToolFinished } from '@mcp-host/contracts'
import type { ObservedCall, GenerationText, ObservedTurn } from './observed-turn.ts'
import { idArgument, ownToolName } from './observed-turn.ts'

interface Generation {
  readonly turn: number
  readonly written: GenerationText
  readonly calls: Map<string, ObservedCall>
  hasResult: boolean
}

/**
 * The turns of a session by message id, computed from its log. Does not use the fold of the host, so that a fault there
 * is found here. A turn that has not begun has no generations.
 */
export function turnsOfLog(entries: readonly LogEntry[]): Map<string, ObservedTurn> {
  /** Message ids and outcomes by the log sequence of the message. */
  const messages = new Map<number, string>()
  const outcomes = new Map<number, string>()
  const generations = new Map<string, Generation>()
  const calls = new Map<string, ObservedCall>()
  /** The turns of tool calls, by call id. */
  const turns = new Map<string, number>()

  const begin = (id: string, turn: number): void => {
    const written = { thinking: '', text: '' }
    generations.set(id, { turn, written, calls: new Map(), hasResult: false })
  }

  for (const { kind, fact, seq } of entries) {
    if (kind === 'input') {
      if (!messages.values().some((id) => id === fact.id)) messages.set(seq, fact.id)
    } else if (kind === 'generation') {
      const generation = generations.get(fact.generation)
      if (generation === undefined || generation.hasResult || outcomes.has(generation.turn))
        continue
      generation.hasResult = true
      for (const block of fact.content) {
        if (block.type === 'text') generation.written.text += block.text
        if (block.type === 'reasoning') generation.written.thinking += block.text
        if (block.type !== 'tool-call') continue
        const call = {
          id: idArgument(block.arguments),
          tool: ownToolName(block.tool ?? block.name),
        }
        generation.calls.set(block.id, call)
        calls.set(block.id, call)
        turns.set(block.id, generation.turn)
      }
    } else if (kind === 'tool' && fact.type === 'tool-finished') {
      const isOver = outcomes.has(turns.get(fact.call) ?? 0)
      if (!isOver) settle(calls.get(fact.call), outcomeOf(fact))
    } else if (kind === 'turn') {
      if (fact.type === 'tool-settled') settle(calls.get(fact.call), fact.outcome)
      if (fact.type === 'turn-done') {
        outcomes.set(fact.turn, fact.outcome)
        // The client was told to discard the text of this generation.
        if (fact.voids !== undefined) generations.delete(fact.voids)
      }
      if (fact.type === 'generation-started' && fact.voids !== undefined) {
        // The worker was not dead: its result precedes this entry.
        if (generations.get(fact.voids)?.hasResult === true && fact.reason === undefined) continue
        // The text of a dead worker is ignored.
        generations.delete(fact.voids)
      }
      if (fact.type === 'generation-started' || fact.type === 'turn-claimed') {
        if (fact.generation !== undefined) begin(fact.generation, fact.turn)
      }
    }
  }

  return new Map(
    Array.from(messages, ([seq, id]) => {
      const own = [...generations.values()].filter((each) => each.turn === seq)
      const outcome = outcomes.get(seq)
      const turn: ObservedTurn = {
        id,
        ...(outcome === undefined ? {} : { outcome }),
        texts: own.map(({ written }) => written),
        calls: new Map(own.flatMap((each) => [...each.calls])),
      }
      return [id, turn]
    }),
  )
}

function outcomeOf({ outcome, error, isOutcomeUnknown }: ToolFinished): string {
  if (error?.code === 'cancelled') return 'cancelled'
  return isOutcomeUnknown === true ? 'unknown' : outcome
}

/** Keeps the first outcome of a call. */
function settle(call: ObservedCall | undefined, outcome: string): void {
  if (call !== undefined) call.outcome ??= outcome
}

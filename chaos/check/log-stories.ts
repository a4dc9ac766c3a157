import type { LogEntry, ToolFinished } from '@mcp-host/contracts'
import type { CallStory, Segment, TurnStory } from './turn-story.ts'
import { idArgument, ownToolName } from './turn-story.ts'

interface Generation {
  readonly turn: number
  readonly segment: Segment
  readonly calls: Map<string, CallStory>
  hasResult: boolean
}

/**
 * The turns of a session by its log alone, by message; one that was not begun has no generations. Reads
 * the log by rules of its own and not by the host's: a fault there must not hide itself here.
 */
export function logStories(entries: readonly LogEntry[]): Map<string, TurnStory> {
  /** Message ids and outcomes by the log sequence of the message. */
  const messages = new Map<number, string>()
  const outcomes = new Map<number, string>()
  const generations = new Map<string, Generation>()
  const calls = new Map<string, CallStory>()
  /** The turns of calls, by the host's ids of them. */
  const turns = new Map<string, number>()

  const begin = (id: string, turn: number): void => {
    const segment = { thinking: '', text: '' }
    generations.set(id, { turn, segment, calls: new Map(), hasResult: false })
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
        if (block.type === 'text') generation.segment.text += block.text
        if (block.type === 'reasoning') generation.segment.thinking += block.text
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
        // The client was told to forget what it had begun to write.
        if (fact.voids !== undefined) generations.delete(fact.voids)
      }
      if (fact.type === 'generation-started' && fact.voids !== undefined) {
        // Its worker was only taken for dead: what it wrote stands before this.
        if (generations.get(fact.voids)?.hasResult === true && fact.reason === undefined) continue
        // What a dead worker wrote, or was about to, counts for nothing.
        generations.delete(fact.voids)
      }
      if (fact.type === 'generation-started' || fact.type === 'turn-claimed') {
        if (fact.generation !== undefined) begin(fact.generation, fact.turn)
      }
    }
  }

  return new Map(
    Array.from(messages, ([seq, id]) => {
      const own = [...generations.values()].filter(({ turn }) => turn === seq)
      const outcome = outcomes.get(seq)
      const story: TurnStory = {
        id,
        ...(outcome === undefined ? {} : { outcome }),
        segments: own.map(({ segment }) => segment),
        calls: new Map(own.flatMap((each) => [...each.calls])),
      }
      return [id, story]
    }),
  )
}

function outcomeOf({ outcome, error, isOutcomeUnknown }: ToolFinished): string {
  if (error?.code === 'cancelled') return 'cancelled'
  return isOutcomeUnknown === true ? 'unknown' : outcome
}

/** The first end of a call counts. */
function settle(call: CallStory | undefined, outcome: string): void {
  if (call !== undefined) call.outcome ??= outcome
}

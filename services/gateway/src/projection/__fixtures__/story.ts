import type { FollowItem, LogEnd } from '@mcp-host/bus'
import type {
  ContentBlock,
  GenerationId,
  GenerationResult,
  InputAnswered,
  InputRequired,
  LogEntry,
  LogFact,
  SessionId,
  TextDelta,
  ToolCallId,
  ToolFinished,
  TurnEvent,
  TurnOutcome,
  UnreadableFact,
} from '@mcp-host/contracts'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'

export const SESSION = 'storystorystorystory' as SessionId

type WithoutBase<T> = T extends unknown ? Omit<T, 'turn' | 'seen'> : never
type Chunk = Exclude<FollowItem, { type: 'caught-up' }>

/** The end of a log with these entries. */
export function endOf(entries: readonly LogEntry[]): LogEnd {
  const turnEvent = entries.findLast(({ kind }) => kind === 'turn')
  return { seq: entries.at(-1)?.seq ?? 0, turnEvent }
}

/** Builds the entries and deltas of a session, with sequences and ids as the services assign them. */
export class Story {
  /** All items in order. */
  readonly items: Chunk[] = []
  readonly #envelope = newEnvelope('local')
  #seq = 0
  #fence = 0
  #turn = 0
  #messageId = ''

  get entries(): LogEntry[] {
    return this.items.flatMap((item) => (item.type === 'entry' ? [item.entry] : []))
  }

  entry(fact: LogFact | UnreadableFact): LogEntry {
    // The stream also has entries of other sessions: sequences have gaps.
    this.#seq += this.items.length % 3 === 0 ? 2 : 1
    const entry: LogEntry = {
      ...fact,
      session: SESSION,
      seq: this.#seq,
      time: this.#seq,
      envelope: this.#envelope,
    }
    const isTurn = fact.kind === 'turn' || (fact.kind === 'unreadable' && fact.of === 'turn')
    if (isTurn) this.#fence = entry.seq
    this.items.push({ type: 'entry', entry })
    return entry
  }

  input(text: string, id = `m${this.items.length}`, replaces?: string): LogEntry {
    const more = replaces === undefined ? {} : { replaces }
    return this.entry({ kind: 'input', fact: { id, text, ...more } })
  }

  cancel(messageId?: string): LogEntry {
    const about = messageId === undefined ? {} : { messageId }
    return this.entry({ kind: 'control', fact: { type: 'cancel-requested', ...about } })
  }

  delete(): LogEntry {
    return this.entry({ kind: 'control', fact: { type: 'session-deleted' } })
  }

  /** A fact of an unknown version. */
  unreadable(of: LogFact['kind']): LogEntry {
    return this.entry({ kind: 'unreadable', of, fact: undefined })
  }

  /** Starts the turn of a message with its first generation. */
  claim(input: LogEntry, missing?: string[]): GenerationId {
    this.#begin(input)
    return this.#start((generation) => ({
      type: 'turn-claimed',
      messageId: this.#messageId,
      orchestrator: 'o1',
      epoch: 1,
      generation,
      ...(missing === undefined ? {} : { missing }),
    }))
  }

  /** Starts the turn of a message that was cancelled before. */
  claimCancelled(input: LogEntry): void {
    this.#begin(input)
    const messageId = this.#messageId
    this.turn({ type: 'turn-claimed', messageId, orchestrator: 'o1', epoch: 1 })
  }

  #begin(input: LogEntry): void {
    this.#turn = input.seq
    this.#messageId = input.kind === 'input' ? input.fact.id : ''
  }

  takeOver(): LogEntry {
    const messageId = this.#messageId
    return this.turn({ type: 'turn-claimed', messageId, orchestrator: 'o2', epoch: 2 })
  }

  generation(voids?: GenerationId, reason?: string): GenerationId {
    return this.#start((generation) => ({
      type: 'generation-started',
      generation,
      ...(voids === undefined ? {} : { voids }),
      ...(reason === undefined ? {} : { reason }),
    }))
  }

  settle(
    call: ToolCallId,
    outcome: 'refused' | 'unknown' | 'cancelled' | 'answered' = 'unknown',
  ): LogEntry {
    const message = `it is ${outcome}`
    return this.turn({ type: 'tool-settled', call, tool: 'test.echo', outcome, message })
  }

  /** Ends the turn. `voids` is a generation without a result. */
  done(outcome: TurnOutcome = 'completed', message?: string, voids?: GenerationId): LogEntry {
    const more = {
      ...(message === undefined ? {} : { message }),
      ...(voids === undefined ? {} : { voids }),
    }
    return this.turn({ type: 'turn-done', messageId: this.#messageId, outcome, ...more })
  }

  /** The host asks the user to approve a call. */
  askApproval(call: ToolCallId, id: string, expiresAt = 1_000): LogEntry {
    return this.turn({
      type: 'approval-required',
      call,
      server: 'test',
      tool: 'echo',
      id,
      message: 'May test.echo be called?',
      arguments: { text: 'hi' },
      expiresAt,
    })
  }

  wait(reason: 'approval' | 'owner' = 'approval'): LogEntry {
    return this.turn({ type: 'turn-waiting', for: reason, until: 2_000 })
  }

  compact(how: 'cleared' | 'summarised' | 'dropped'): LogEntry {
    const tokens = { tokensBefore: 100, tokensAfter: 10 }
    return this.turn({ type: 'context-compacted', how, through: this.#turn, ...tokens })
  }

  turn(fact: WithoutBase<TurnEvent>): LogEntry {
    return this.entry({ kind: 'turn', fact: { ...fact, turn: this.#turn, seen: this.#seq } })
  }

  result(
    generation: GenerationId,
    content: ContentBlock[],
    outcome: GenerationResult['outcome'] = 'completed',
  ): LogEntry {
    const fact = { generation, outcome, content, provider: 'demo', model: 'demo-1' }
    return this.entry({ kind: 'generation', fact })
  }

  toolStarted(call: ToolCallId, attempt = 1): LogEntry {
    const fact = { type: 'tool-started' as const, call, attempt, supervisor: 's1', nonce: 'n' }
    return this.entry({ kind: 'tool', fact })
  }

  toolFinished(call: ToolCallId, text: string, more: Partial<ToolFinished> = {}): LogEntry {
    return this.entry({
      kind: 'tool',
      fact: {
        type: 'tool-finished',
        call,
        server: 'test',
        tool: 'echo',
        outcome: 'ok',
        content: [
          {
            type: 'text',
            text,
          },
        ],
        durationMs: 3,
        ...more,
      },
    })
  }

  /** A tool asks the user for input. */
  ask(call: ToolCallId, id: string, more: Partial<InputRequired> = {}): LogEntry {
    const fact: InputRequired = {
      type: 'input-required',
      call,
      attempt: 1,
      server: 'test',
      tool: 'echo',
      id,
      kind: 'elicitation',
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      expiresAt: 1_000,
      ...more,
    }
    return this.entry({ kind: 'tool', fact })
  }

  answer(id: string, action: InputAnswered['action'] = 'accept'): LogEntry {
    return this.entry({ kind: 'control', fact: { type: 'input-answered', id, action } })
  }

  closeQuestion(call: ToolCallId, id: string, reason: 'expired' | 'withdrawn'): LogEntry {
    return this.entry({ kind: 'tool', fact: { type: 'input-closed', call, id, reason } })
  }

  delta(
    generation: GenerationId,
    offset: number,
    text: string,
    kind: TextDelta['kind'] = 'text',
  ): TextDelta {
    const delta = { generation, offset, kind, text }
    this.items.push({ type: 'delta', delta })
    return delta
  }

  #start(fact: (generation: GenerationId) => WithoutBase<TurnEvent>): GenerationId {
    const generation = generationId(SESSION, this.#fence)
    this.turn(fact(generation))
    return generation
  }
}

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

export function reasoningBlock(text: string): ContentBlock {
  return { type: 'reasoning', text }
}

export function callBlock(
  generation: GenerationId,
  index = 0,
): ContentBlock & { type: 'tool-call' } {
  return {
    type: 'tool-call',
    id: toolCallId(generation, index),
    name: 'test__echo',
    server: 'test',
    tool: 'echo',
    arguments: { text: 'hi' },
  }
}

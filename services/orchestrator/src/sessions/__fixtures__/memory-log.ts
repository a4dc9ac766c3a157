import type { FollowItem, ReadOptions } from '@mcp-host/bus'
import type {
  Attachment,
  Envelope,
  LogEntry,
  LogFact,
  LostRange,
  SessionId,
  ToolCallId,
} from '@mcp-host/contracts'
import { generationId, newEnvelope, newSessionId, toolCallId } from '@mcp-host/contracts'

/** The output of one generation. */
export interface GenerationOutput {
  readonly text?: string
  readonly reasoning?: string
  /** Names of called tools of the server `files`. */
  readonly tools?: readonly string[]
}

/** A log of one session in memory, with methods that append the entries of turns. */
export class MemoryLog {
  readonly session: SessionId
  readonly entries: LogEntry[] = []
  /** The number of entries that each read returned. */
  readonly reads: number[] = []
  /** Sequences that followers do not receive. */
  readonly lost = new Set<number>()
  lostRanges: readonly LostRange[] = []
  /** The last sequence of the replica that answers reads without `through`. */
  replicaSeq = Infinity
  readonly #envelope: Envelope
  /** Not from 0: the stream also has entries of other sessions. */
  #seq = 5
  #turnSeq = 0
  #added = Promise.withResolvers<void>()

  constructor(owner = 'ann', session = newSessionId()) {
    this.session = session
    this.#envelope = newEnvelope(owner)
  }

  async lastSequence(): Promise<number> {
    return this.entries.at(-1)?.seq ?? 0
  }

  async isDeleted(): Promise<boolean> {
    return this.entries.some(
      ({ kind, fact }) => kind === 'control' && fact.type === 'session-deleted',
    )
  }

  async read(
    _: SessionId,
    after: number,
    { limit = Infinity, until = Infinity, through = 0 }: ReadOptions = {},
  ): Promise<LogEntry[]> {
    const end = Math.min(until, Math.max(through, this.replicaSeq))
    const found = this.entries.filter(({ seq }) => seq > after && seq <= end).slice(0, limit)
    this.reads.push(found.length)
    return found
  }

  /** Entries after a sequence, without those in `lost`. */
  async *follow(
    _: SessionId,
    { after, signal }: { after: number; signal: AbortSignal },
  ): AsyncGenerator<FollowItem> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve()),
    )
    for (let seq = after; !signal.aborted; await Promise.race([this.#added.promise, aborted])) {
      for (const entry of this.entries.filter((each) => each.seq > seq)) {
        seq = entry.seq
        if (!this.lost.has(seq)) yield { type: 'entry', entry }
      }
    }
  }

  /** Appends a fact and returns its sequence. Its time in milliseconds is a thousand times the sequence. */
  add(fact: LogFact): number {
    this.#seq += 3
    const position = { session: this.session, seq: this.#seq, time: this.#seq * 1_000 }
    this.entries.push({ ...fact, ...position, envelope: this.#envelope })
    this.#added.resolve()
    this.#added = Promise.withResolvers()
    return this.#seq
  }

  addInput(
    id: string,
    {
      text = `what ${id} says`,
      replaces = '',
      follows = '',
      attachments,
    }: { text?: string; replaces?: string; follows?: string; attachments?: Attachment[] } = {},
  ): number {
    const more = {
      ...(replaces === '' ? {} : { replaces }),
      ...(follows === '' ? {} : { follows }),
      ...(attachments === undefined ? {} : { attachments }),
    }
    return this.add({ kind: 'input', fact: { id, text, ...more } })
  }

  /** Claims the turn of a message and starts a generation. */
  claim(turn: number): void {
    const generation = generationId(this.session, this.#turnSeq)
    this.#turn({
      ...this.#base(turn),
      type: 'turn-claimed',
      messageId: '',
      orchestrator: 'o',
      epoch: 1,
      generation,
    })
  }

  generate(turn: number): void {
    const generation = generationId(this.session, this.#turnSeq)
    this.#turn({ ...this.#base(turn), type: 'generation-started', generation })
  }

  /** Appends the result of the latest generation and returns the ids of its calls. */
  write({ text, reasoning, tools = [] }: GenerationOutput): ToolCallId[] {
    const started = this.entries.findLast(
      ({ kind, fact }) => kind === 'turn' && fact.type !== 'tool-settled' && 'generation' in fact,
    )
    if (started?.kind !== 'turn' || !('generation' in started.fact)) throw new Error('not started')
    const generation = started.fact.generation ?? generationId(this.session, 0)
    const calls = tools.map((tool, index) => ({
      type: 'tool-call' as const,
      id: toolCallId(generation, index),
      name: `files__${tool}`,
      server: 'files',
      tool,
      arguments: { path: '/a' },
    }))
    this.add({
      kind: 'generation',
      fact: {
        generation,
        outcome: 'completed',
        content: [
          ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
          ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
          ...calls,
        ],
        provider: 'demo',
        model: 'tiny',
        usage: { inputTokens: 3, outputTokens: 2 },
      },
    })
    return calls.map(({ id }) => id)
  }

  /** Appends the result of a call of `files.<tool>`. */
  finish(call: ToolCallId, tool: string, text: string, blob?: string): void {
    this.add({
      kind: 'tool',
      fact: {
        type: 'tool-finished',
        call,
        server: 'files',
        tool,
        outcome: 'ok',
        content: [{ type: 'text', text }],
        durationMs: 7,
        ...(blob === undefined ? {} : { blob: { key: blob, bytes: 9, digest: 'd' } }),
      },
    })
  }

  done(turn: number, outcome: 'completed' | 'cancelled' = 'completed', message?: string): void {
    const more = message === undefined ? {} : { message }
    this.#turn({ ...this.#base(turn), type: 'turn-done', outcome, ...more })
  }

  compact(turn: number, through: number): void {
    const tokens = { tokensBefore: 9, tokensAfter: 3 }
    const how = 'summarised'
    this.#turn({
      ...this.#base(turn),
      type: 'context-compacted',
      how,
      through,
      summary: 's',
      ...tokens,
    })
  }

  /** Appends a whole turn with one answer. */
  turn(
    id: string,
    answer = `answer to ${id}`,
    options: { text?: string; replaces?: string; follows?: string } = {},
  ): number {
    const turn = this.addInput(id, options)
    this.claim(turn)
    this.write({ text: answer })
    this.done(turn)
    return turn
  }

  #base(turn: number): { turn: number; seen: number } {
    return { turn, seen: this.#seq }
  }

  #turn(fact: (LogFact & { kind: 'turn' })['fact']): void {
    this.#turnSeq = this.add({ kind: 'turn', fact })
  }
}

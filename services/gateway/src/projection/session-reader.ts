import type {
  Cursor,
  GenerationId,
  GenerationResult,
  LogEntry,
  SessionEvent,
  TextDelta,
  ToolCallId,
  ToolProgress,
  ToolProgressDown,
  TurnEvent,
} from '@mcp-host/contracts'
import { formatCursor, generationFence } from '@mcp-host/contracts'
import type { AskedQuestion } from '@mcp-host/session-state'
import { answeredBy, askedBy, isAbandoned, isStillborn, questionEnd } from '@mcp-host/session-state'
import type { Unplaced } from './log-events.ts'
import { logEvents, questionEvents } from './log-events.ts'

/** The final answer of a turn, and the generation that wrote it. */
export interface FinalAnswer {
  readonly text: string
  readonly step?: GenerationId
}

/** An event of the stream. The end of a turn may carry its final answer. */
export type StreamEvent = SessionEvent & { readonly answer?: FinalAnswer }

/**
 * Turns a session's log entries and text deltas into the client's event stream, from a cursor on. Every event's id is
 * the cursor after it. Repeated events are dropped, and a gap in the text is reported. Holds no resources.
 */
export class SessionReader {
  #cursor: Cursor
  /** The fence of the newest generation that was read. */
  #newest: number
  #hasEarlyText = false
  /** Whether the cursor's generation has no result yet. */
  #isWriting: boolean
  /** The tool calls of this generation that have an answer. Only the first answer counts. */
  readonly #answered = new Set<ToolCallId>()
  /** The last started attempt of each of its tool calls. */
  readonly #attempts = new Map<ToolCallId, number>()
  /** Open questions of tool calls to the user. */
  readonly #questions = new Set<AskedQuestion>()

  readonly #withAnswers: boolean
  /** The text of the cursor's generation, once that generation is complete. */
  #result: GenerationResult | undefined

  /** `withAnswers`: whether the end of each turn carries its final answer. */
  constructor(start: Cursor, { withAnswers = false } = {}) {
    this.#withAnswers = withAnswers
    this.#cursor = start
    this.#newest = start.fence ?? -1
    this.#isWriting = start.fence !== undefined
  }

  /**
   * Entries after this sequence must be read. Within a turn it is before the cursor, since the state of the last
   * generation decides which later entries count.
   */
  get readAfter(): number {
    const { seq, part, fence } = this.#cursor
    return Math.min(part > 0 ? seq - 1 : seq, fence ?? seq)
  }

  /** The generation whose text is expected, and the offset that was reached. */
  get writing(): { readonly fence: number; readonly offset: number } | undefined {
    const { fence, offset } = this.#cursor
    return fence === undefined || !this.#isWriting ? undefined : { fence, offset }
  }

  /** Whether text was dropped because it arrived before the start of its generation. */
  get missesText(): boolean {
    return this.#hasEarlyText && this.writing !== undefined
  }

  /** The events of the next entry. Of the cursor's own entry, only the events after the cursor. */
  entry(entry: LogEntry): StreamEvent[] {
    const { seq, part } = this.#cursor
    const answer = this.#answerOf(entry)
    const ends = this.#endQuestions(entry)
    if (entry.seq <= seq) {
      this.#recall(entry)
      if (entry.seq < seq || part === 0) return []
      return withAnswer(this.#place([...ends, ...logEvents(entry)].slice(part)), answer)
    }
    const before = this.#advance(entry)
    const own = before === undefined ? [] : logEvents(entry)
    return withAnswer([...(before ?? []), ...this.#place([...ends, ...own])], answer)
  }

  /** The event of a delta, without text that was seen before. `'gap'`: earlier text is missing. */
  delta({ generation, offset, kind, text }: TextDelta): SessionEvent[] | 'gap' {
    const fence = generationFence(generation)
    if (fence !== this.#cursor.fence) {
      if (fence > this.#newest) this.#hasEarlyText = true
      return []
    }
    if (!this.#isWriting) return []
    if (offset > this.#cursor.offset) return 'gap'
    this.#hasEarlyText = false
    return this.#text(kind, text.slice(this.#cursor.offset - offset))
  }

  /** The frame of a tool's progress; empty once the call is over. */
  progress({ call: callId, ...progress }: ToolProgress): ToolProgressDown[] {
    if (!this.#isAwaited(callId)) return []
    return [{ type: 'tool', payload: { state: 'progress', callId, ...progress } }]
  }

  /** The final answer of the turn that an entry ends. A reply with tool calls is not final. */
  #answerOf({ kind, fact }: LogEntry): FinalAnswer | undefined {
    if (!this.#withAnswers || kind !== 'turn' || fact.type !== 'turn-done') return undefined
    const { content = [], generation } = (fact.voids === undefined && this.#result) || {}
    const isFinal = content.every(({ type }) => type !== 'tool-call')
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    const text = [...(isFinal ? texts : []), fact.message ?? ''].join('')
    return { text, ...(isFinal && generation !== undefined ? { step: generation } : {}) }
  }

  /** Closes questions that an entry ends. */
  #endQuestions(entry: LogEntry): Unplaced[] {
    // The end of a turn closes all open questions.
    if (entry.kind === 'turn' && entry.fact.type === 'turn-done') return []
    return Array.from(this.#questions).flatMap((question) => {
      const end = questionEnd(question, entry)
      if (end === undefined) return []
      this.#questions.delete(question)
      return questionEvents(question, end)
    })
  }

  /** Reads an entry before the cursor for the state of the cursor's generation. */
  #recall(entry: LogEntry): void {
    if (entry.kind === 'generation') {
      if (!this.#isWriting || generationFence(entry.fact.generation) !== this.#cursor.fence) return
      this.#isWriting = false
      this.#result = entry.fact
      return
    }
    const asked = askedBy(entry)
    if (asked !== undefined) {
      if (this.#isOpen(asked)) this.#questions.add(asked)
      return
    }
    this.#countAttempt(entry)
    const call = answeredBy(entry)
    if (call !== undefined) this.#answered.add(call)
  }

  /** Moves to a new entry. Returns the missing text before it; `undefined` when the entry has no effect. */
  #advance(entry: LogEntry): SessionEvent[] | undefined {
    const next = { ...this.#cursor, seq: entry.seq, part: 0 }
    if (this.#isStillborn(entry)) {
      this.#cursor = next
      return undefined
    }
    const call = answeredBy(entry)
    if (call !== undefined) {
      const counts = this.#isAwaited(call)
      this.#answered.add(call)
      this.#cursor = next
      return counts ? [] : undefined
    }
    const asked = askedBy(entry)
    if (asked !== undefined) {
      const counts = this.#isOpen(asked)
      if (counts) this.#questions.add(asked)
      this.#cursor = next
      return counts ? [] : undefined
    }
    if (entry.kind === 'generation') {
      // A result of an abandoned generation, or a second result: the first one counts.
      const counts = this.#isWriting && generationFence(entry.fact.generation) === next.fence
      const rest = counts ? this.#restOf(entry.fact) : undefined
      if (counts) {
        this.#isWriting = false
        this.#result = entry.fact
      }
      this.#cursor = { ...next, offset: this.#cursor.offset }
      return rest
    }
    this.#countAttempt(entry)
    this.#cursor = entry.kind === 'turn' ? { ...next, ...this.#generationAfter(entry.fact) } : next
    return []
  }

  #isStillborn({ kind, fact }: LogEntry): boolean {
    const hasResult = (replaced: GenerationId): boolean =>
      !this.#isWriting && generationFence(replaced) === this.#cursor.fence
    return kind === 'turn' && fact.type === 'generation-started' && isStillborn(fact, hasResult)
  }

  #isOpen(asked: AskedQuestion): boolean {
    return this.#isAwaited(asked.call) && !isAbandoned(asked, this.#attempts.get(asked.call) ?? 0)
  }

  #countAttempt({ kind, fact }: LogEntry): void {
    if (kind !== 'tool' || fact.type !== 'tool-started') return
    const { call, attempt } = fact
    this.#attempts.set(call, Math.max(attempt, this.#attempts.get(call) ?? 0))
  }

  /** Whether an answer or question counts: the current generation made the call, and the call had no answer before. */
  #isAwaited(call: ToolCallId): boolean {
    const asked = call.slice(0, call.lastIndexOf('-')) as GenerationId
    return generationFence(asked) === this.#cursor.fence && !this.#answered.has(call)
  }

  #generationAfter(fact: TurnEvent): Partial<Cursor> {
    if (fact.type === 'turn-done') {
      this.#isWriting = false
      this.#questions.clear()
      this.#result = undefined
      return { fence: undefined, offset: 0 }
    }
    if (!('generation' in fact) || fact.generation === undefined) return {}
    this.#newest = generationFence(fact.generation)
    this.#isWriting = true
    this.#result = undefined
    this.#answered.clear()
    this.#attempts.clear()
    this.#questions.clear()
    return { fence: this.#newest, offset: 0 }
  }

  /** The part of a generation's result after the received deltas. */
  #restOf({ content }: GenerationResult): SessionEvent[] {
    let start = 0
    return content.flatMap((block) => {
      if (block.type === 'tool-call') return []
      const skip = Math.max(0, this.#cursor.offset - start)
      start += block.text.length
      return this.#text(block.type, block.text.slice(skip))
    })
  }

  #text(kind: TextDelta['kind'], content: string): SessionEvent[] {
    if (content === '') return []
    this.#cursor = { ...this.#cursor, offset: this.#cursor.offset + content.length }
    const type = kind === 'text' ? 'text' : 'thinking'
    return [{ type, id: formatCursor(this.#cursor), payload: { content } }]
  }

  #place(events: readonly Unplaced[]): SessionEvent[] {
    return events.map((event) => {
      this.#cursor = { ...this.#cursor, part: this.#cursor.part + 1 }
      return { ...event, id: formatCursor(this.#cursor) }
    })
  }
}

function withAnswer(
  events: readonly SessionEvent[],
  answer: FinalAnswer | undefined,
): StreamEvent[] {
  if (answer === undefined) return [...events]
  return events.map((event) =>
    event.type === 'turn' && event.payload.state === 'done' ? { ...event, answer } : event,
  )
}

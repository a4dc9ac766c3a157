import type {
  AskedQuestion,
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
import { formatCursor, generationFence, questionEnd } from '@mcp-host/contracts'
import type { Unplaced } from './log-events.ts'
import { logEvents, questionEvents } from './log-events.ts'

/** The final answer of a turn, and the generation that wrote it. */
export interface FinalAnswer {
  readonly text: string
  readonly step?: GenerationId
}

/** An event; the end of a turn with its answer, where that is wanted. */
export type StreamEvent = SessionEvent & { readonly answer?: FinalAnswer }

/**
 * Turns a session's log entries and text deltas into the client's event stream, from a cursor on. Every
 * event's id is the cursor after it. What was given before is dropped; a hole in the text is reported
 * instead of skipped. Holds no resources.
 */
export class SessionReader {
  #cursor: Cursor
  /** Fence of the newest generation whose start was read. */
  #newest: number
  #hasEarlyText = false
  /** The cursor's generation has no result yet. */
  #isWriting: boolean
  /** Its tool calls that have an answer: only the first counts. */
  readonly #answered = new Set<ToolCallId>()
  /** The attempts of its tool calls that were started last. */
  readonly #attempts = new Map<ToolCallId, number>()
  /** Open questions of tool calls to the user. */
  readonly #questions = new Set<AskedQuestion>()

  readonly #withAnswers: boolean
  /** The text of the cursor's generation, once that generation is complete. */
  #result: GenerationResult | undefined

  /** `withAnswers`: the end of each turn has its final answer. */
  constructor(start: Cursor, { withAnswers = false } = {}) {
    this.#withAnswers = withAnswers
    this.#cursor = start
    this.#newest = start.fence ?? -1
    this.#isWriting = start.fence !== undefined
  }

  /**
   * Entries after this sequence are to be read. In a turn that is before the cursor: what its last
   * generation has come to decides what counts from here on.
   */
  get readAfter(): number {
    const { seq, part, fence } = this.#cursor
    return Math.min(part > 0 ? seq - 1 : seq, fence ?? seq)
  }

  /** The generation whose text is awaited, and how much of it was given. */
  get writing(): { readonly fence: number; readonly offset: number } | undefined {
    const { fence, offset } = this.#cursor
    return fence === undefined || !this.#isWriting ? undefined : { fence, offset }
  }

  /** Whether text came before the start of its generation did, and so was dropped. */
  get missesText(): boolean {
    return this.#hasEarlyText && this.writing !== undefined
  }

  /** The events of the next entry. Of the entry the cursor stands in, those that were not yet seen. */
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

  /** The event of a delta, cut to what is new; `'gap'` when text before it is missing. */
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

  /** The frame of a tool's progress; nothing once its call is over. */
  progress({ call: callId, ...progress }: ToolProgress): ToolProgressDown[] {
    if (!this.#isAwaited(callId)) return []
    return [{ type: 'tool', payload: { state: 'progress', callId, ...progress } }]
  }

  /** The final answer of the turn that an entry ends. A reply that asks for tools is none. */
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
    // The end of a turn speaks for all that is open: a place in it says of which generation no more.
    if (entry.kind === 'turn' && entry.fact.type === 'turn-done') return []
    return Array.from(this.#questions).flatMap((question) => {
      const end = questionEnd(question, entry)
      if (end === undefined) return []
      this.#questions.delete(question)
      return questionEvents(question, end)
    })
  }

  /** Takes in what an entry before the cursor says about the cursor's generation. */
  #recall(entry: LogEntry): void {
    if (entry.kind === 'generation') {
      if (!this.#isWriting || generationFence(entry.fact.generation) !== this.#cursor.fence) return
      this.#isWriting = false
      this.#result = entry.fact
    } else if (isQuestion(entry)) {
      if (this.#isOpen(entry.fact)) this.#questions.add(entry.fact)
    } else {
      this.#countAttempt(entry)
      const call = answeredCall(entry)
      if (call !== undefined) this.#answered.add(call)
    }
  }

  /** Moves to a new entry. Answers the text still to be given before it; `undefined`: it means nothing. */
  #advance(entry: LogEntry): SessionEvent[] | undefined {
    const next = { ...this.#cursor, seq: entry.seq, part: 0 }
    if (this.#isStillborn(entry)) {
      this.#cursor = next
      return undefined
    }
    const call = answeredCall(entry)
    if (call !== undefined) {
      const means = this.#isAwaited(call)
      this.#answered.add(call)
      this.#cursor = next
      return means ? [] : undefined
    }
    if (isQuestion(entry)) {
      const means = this.#isOpen(entry.fact)
      if (means) this.#questions.add(entry.fact)
      this.#cursor = next
      return means ? [] : undefined
    }
    if (entry.kind === 'generation') {
      // A result of an abandoned generation, or a second result: the first one counts.
      const means = this.#isWriting && generationFence(entry.fact.generation) === next.fence
      const rest = means ? this.#restOf(entry.fact) : undefined
      if (means) {
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

  /** A generation in place of one that was taken for dead, whose result has come all the same: void itself. */
  #isStillborn({ kind, fact }: LogEntry): boolean {
    if (kind !== 'turn' || fact.type !== 'generation-started') return false
    const { voids, reason } = fact
    const isOver = !this.#isWriting && reason === undefined
    return isOver && voids !== undefined && generationFence(voids) === this.#cursor.fence
  }

  /** A question of an attempt that was given up counts for nothing. */
  #isOpen(asked: AskedQuestion): boolean {
    if (!this.#isAwaited(asked.call)) return false
    return (
      asked.type === 'approval-required' || asked.attempt >= (this.#attempts.get(asked.call) ?? 0)
    )
  }

  #countAttempt({ kind, fact }: LogEntry): void {
    if (kind !== 'tool' || fact.type !== 'tool-started') return
    const { call, attempt } = fact
    this.#attempts.set(call, Math.max(attempt, this.#attempts.get(call) ?? 0))
  }

  /** An answer or question counts when the generation that is read last asked for it and it had no answer before. */
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

function isQuestion(entry: LogEntry): entry is LogEntry & { fact: AskedQuestion } {
  const { kind, fact } = entry
  if (kind === 'turn') return fact.type === 'approval-required'
  return kind === 'tool' && fact.type === 'input-required'
}

/** The tool call an entry answers, if it does: by its result, or by closing it without one. */
function answeredCall({ kind, fact }: LogEntry): ToolCallId | undefined {
  if (kind === 'tool') return fact.type === 'tool-finished' ? fact.call : undefined
  return kind === 'turn' && fact.type === 'tool-settled' ? fact.call : undefined
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

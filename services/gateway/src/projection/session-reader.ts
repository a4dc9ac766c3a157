import type {
  Cursor,
  GenerationResult,
  LogEntry,
  SessionEvent,
  TextDelta,
  TurnEvent,
} from '@mcp-host/contracts'
import { formatCursor, generationFence } from '@mcp-host/contracts'
import type { Unplaced } from './log-events.ts'
import { logEvents } from './log-events.ts'

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
  /** Tool calls of the running turn whose result was given: only the first counts. */
  readonly #answered = new Set<string>()

  constructor(start: Cursor) {
    this.#cursor = start
    this.#newest = start.fence ?? -1
  }

  get cursor(): Cursor {
    return this.#cursor
  }

  /** Whether text came before the start of its generation did, and so was dropped. */
  get missesText(): boolean {
    return this.#hasEarlyText && this.#cursor.fence !== undefined
  }

  /** The events of the next entry. Of the entry the cursor stands in, those that were not yet seen. */
  entry(entry: LogEntry): SessionEvent[] {
    const { seq, part } = this.#cursor
    if (entry.seq < seq || (entry.seq === seq && part === 0)) return []
    if (entry.seq === seq) return this.#place(logEvents(entry).slice(part))
    const before = this.#advance(entry)
    return before === undefined ? [] : [...before, ...this.#place(logEvents(entry))]
  }

  /** The event of a delta, cut to what is new; `'gap'` when text before it is missing. */
  delta({ generation, offset, kind, text }: TextDelta): SessionEvent[] | 'gap' {
    const fence = generationFence(generation)
    if (fence !== this.#cursor.fence) {
      if (fence > this.#newest) this.#hasEarlyText = true
      return []
    }
    if (offset > this.#cursor.offset) return 'gap'
    this.#hasEarlyText = false
    return this.#text(kind, text.slice(this.#cursor.offset - offset))
  }

  /** Moves to a new entry. Answers the text still to be given before it; `undefined`: it means nothing. */
  #advance(entry: LogEntry): SessionEvent[] | undefined {
    let means = true
    let rest: SessionEvent[] = []
    let next = { ...this.#cursor, seq: entry.seq, part: 0 }
    switch (entry.kind) {
      case 'generation':
        // Of a generation that was given up, or a second result: the first one counted.
        means = generationFence(entry.fact.generation) === this.#cursor.fence
        if (means) {
          rest = this.#restOf(entry.fact)
          next = { ...next, fence: undefined, offset: 0 }
        }
        break
      case 'turn':
        next = { ...next, ...this.#generationAfter(entry.fact) }
        if (entry.fact.type === 'turn-done') this.#answered.clear()
        break
      case 'tool':
        if (entry.fact.type === 'tool-finished') {
          means = !this.#answered.has(entry.fact.call)
          this.#answered.add(entry.fact.call)
        }
        break
      case 'input':
        break
      default:
        entry satisfies never
    }
    this.#cursor = next
    return means ? rest : undefined
  }

  #generationAfter(fact: TurnEvent): Partial<Cursor> {
    if (fact.type === 'turn-done') return { fence: undefined, offset: 0 }
    if (!('generation' in fact) || fact.generation === undefined) return {}
    this.#newest = generationFence(fact.generation)
    return { fence: this.#newest, offset: 0 }
  }

  /** What the result of a generation has beyond the deltas that came. */
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

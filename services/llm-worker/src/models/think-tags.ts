import type { Model, StreamPart } from '../model.ts'

/** How models without a format for reasoning mark it at the beginning of their text. */
const TAGS: readonly (readonly [string, string])[] = [
  ...['think', 'thinking', 'thought', 'reasoning'].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ['[THINK]', '[/THINK]'],
]

/** The end of reasoning whose begin is in the prompt, as in the templates of some models. */
const LATE_END = '</think>'

/** What is known of the answers of a model. */
interface Habit {
  /** Whether its latest text began with reasoning that had only an end. */
  beginsInside: boolean
}

/**
 * A model whose text may begin with its reasoning, which becomes reasoning of its answer. Where only the end of the
 * reasoning is marked, the text so far is relabelled, and the next one counts as reasoning from its begin.
 */
export function withThinkTags(model: Model): Model {
  const habit: Habit = { beginsInside: false }
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      let splitter = new ThinkSplitter(habit)
      for await (const part of model.stream(request, options)) {
        if (part.type === 'text-delta') yield* splitter.push(part.text)
        else {
          // Tags are searched in each text from its beginning.
          if (part.type !== 'progress' && part.type !== 'notice') {
            yield* splitter.end(part.type === 'end' && part.isCut === true)
            splitter = new ThinkSplitter(habit)
          }
          yield part
        }
      }
    },
  }
}

type Piece = Extract<StreamPart, { type: 'text-delta' | 'reasoning-delta' | 'relabel' }>

/** Splits one text, which arrives in pieces, into reasoning and answer. */
class ThinkSplitter {
  #state: 'begin' | 'reasoning' | 'text' = 'begin'
  /** Whether a tag was just read: the space after it is no text. */
  #isAfterTag = false
  #pending = ''
  #end = ''
  /** Whether an end without a begin may follow. */
  #mayEndLate = true
  /** The text so far, while such an end may follow. */
  #written = ''
  readonly #habit: Habit

  constructor(habit: Habit) {
    this.#habit = habit
  }

  *push(text: string): Generator<Piece> {
    this.#pending += text
    if (this.#state === 'begin') this.#begin()
    if (this.#state === 'reasoning' && this.#isPending()) yield* this.#reasoning()
    if (this.#state === 'text' && this.#isPending()) yield* this.#searched()
  }

  /** The rest of the text, which the provider may have cut off. */
  *end(isCut: boolean): Generator<Piece> {
    yield* this.#emit(this.#state === 'reasoning' ? 'reasoning-delta' : 'text-delta')
    if (!this.#mayEndLate || this.#state !== 'reasoning' || isCut) return
    this.#habit.beginsInside = false
    yield { type: 'relabel', kind: 'text' }
  }

  #begin(): void {
    const text = this.#pending.trimStart()
    const tags = TAGS.find(([open]) => text.startsWith(open))
    if (tags !== undefined) {
      const [open, close] = tags
      this.#state = 'reasoning'
      this.#mayEndLate = false
      this.#isAfterTag = true
      this.#end = close
      this.#pending = text.slice(open.length)
    } else if (TAGS.some(([open]) => open.startsWith(text)) || isPart(text, LATE_END)) return
    else if (this.#habit.beginsInside) {
      this.#state = 'reasoning'
      this.#end = LATE_END
    } else this.#state = 'text'
  }

  /** Emits text, up to an end of reasoning that had no begin. A tag that is quoted, or had a begin, is text. */
  *#searched(): Generator<Piece> {
    const at = this.#mayEndLate ? this.#pending.indexOf(LATE_END) : -1
    if (at < 0) {
      const held = this.#mayEndLate ? beginning(this.#pending, LATE_END) : 0
      yield* this.#emit('text-delta', this.#pending.length - held)
      return
    }
    const before = this.#written + this.#pending.slice(0, at)
    this.#mayEndLate = false
    if (/[`'"]$|<think>/.test(before)) {
      yield* this.#emit('text-delta')
      return
    }
    yield* this.#emit('text-delta', before.trim() === '' ? 0 : at)
    if (before.trim() !== '') {
      yield { type: 'relabel', kind: 'reasoning' }
      this.#habit.beginsInside = true
    }
    this.#pending = this.#pending.slice(this.#pending.indexOf(LATE_END) + LATE_END.length)
    this.#isAfterTag = true
    if (this.#isPending()) yield* this.#emit('text-delta')
  }

  #isPending(): boolean {
    if (this.#isAfterTag) this.#pending = this.#pending.trimStart()
    if (this.#pending !== '') this.#isAfterTag = false
    return this.#pending !== ''
  }

  *#reasoning(): Generator<Piece> {
    const at = this.#pending.indexOf(this.#end)
    if (at < 0) {
      const length = this.#pending.length - beginning(this.#pending, this.#end)
      yield* this.#emit('reasoning-delta', length)
      return
    }
    yield* this.#emit('reasoning-delta', at)
    this.#pending = this.#pending.slice(this.#end.length)
    this.#state = 'text'
    this.#mayEndLate = false
    this.#isAfterTag = true
  }

  *#emit(type: 'text-delta' | 'reasoning-delta', length = this.#pending.length): Generator<Piece> {
    const text = this.#pending.slice(0, length)
    this.#pending = this.#pending.slice(length)
    if (this.#mayEndLate) this.#written += text
    if (text !== '') yield { type, text }
  }
}

/** Whether a text is only the beginning of a word. */
function isPart(text: string, word: string): boolean {
  return text.length < word.length && word.startsWith(text)
}

/** The length of the longest end of the text with which the word may begin. */
function beginning(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(word.slice(0, length))) return length
  }
  return 0
}

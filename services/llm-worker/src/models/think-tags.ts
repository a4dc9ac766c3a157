import type { Model, StreamPart } from '../model.ts'

/** How models without a format for reasoning mark it at the beginning of their text. */
const TAGS: readonly (readonly [string, string])[] = [
  ...['think', 'thinking', 'thought', 'reasoning'].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ['[THINK]', '[/THINK]'],
]

/** A model whose text may begin with its reasoning, which becomes reasoning of its answer. */
export function withThinkTags(model: Model): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      let splitter = new ThinkSplitter()
      for await (const part of model.stream(request, options)) {
        if (part.type === 'text-delta') yield* splitter.push(part.text)
        else {
          // Tags are searched in each text from its beginning.
          if (part.type !== 'progress' && part.type !== 'notice') {
            yield* splitter.end()
            splitter = new ThinkSplitter()
          }
          yield part
        }
      }
    },
  }
}

type Piece = Extract<StreamPart, { type: 'text-delta' | 'reasoning-delta' }>

/** Splits one text, which arrives in pieces, into reasoning and answer. */
class ThinkSplitter {
  #state: 'begin' | 'reasoning' | 'text' = 'begin'
  /** Whether a tag was just read: the space after it is no text. */
  #isAfterTag = false
  #pending = ''
  #end = '';

  *push(text: string): Generator<Piece> {
    this.#pending += text
    if (this.#state === 'begin') this.#begin()
    if (this.#state === 'reasoning' && this.#hasText()) yield* this.#reasoning()
    if (this.#state === 'text' && this.#hasText()) yield* this.#emit('text-delta')
  }

  /** The rest of the text. */
  *end(): Generator<Piece> {
    yield* this.#emit(this.#state === 'reasoning' ? 'reasoning-delta' : 'text-delta')
  }

  #begin(): void {
    const text = this.#pending.trimStart()
    const tags = TAGS.find(([open]) => text.startsWith(open))
    if (tags !== undefined) {
      const [open, close] = tags
      this.#state = 'reasoning'
      this.#isAfterTag = true
      this.#end = close
      this.#pending = text.slice(open.length)
    } else if (!TAGS.some(([open]) => open.startsWith(text))) this.#state = 'text'
  }

  #hasText(): boolean {
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
    this.#isAfterTag = true
  }

  *#emit(type: 'text-delta' | 'reasoning-delta', length = this.#pending.length): Generator<Piece> {
    const text = this.#pending.slice(0, length)
    this.#pending = this.#pending.slice(length)
    if (text !== '') yield { type, text }
  }
}

/** The length of the longest end of the text with which the word may begin. */
function beginning(text: string, word: string): number {
  for (let length = Math.min(word.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(word.slice(0, length))) return length
  }
  return 0
}

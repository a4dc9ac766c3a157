import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked'
import { Marked } from 'marked'
import remend from 'remend'

/** TeX between `$$` or `\[ \]`, and `$` or `\( \)` within a line. */
const mathBlock: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start: (source) => source.search(/\$\$|\\\[/),
  tokenizer(source) {
    const match = /^(?:\$\$([^$]+)\$\$|\\\[([^]+?)\\\])(?:\n|$)/.exec(source)
    if (match === null) return undefined
    return { type: 'mathBlock', raw: match[0], text: (match[1] ?? match[2] ?? '').trim() }
  },
}

const mathInline: TokenizerAndRendererExtension = {
  name: 'mathInline',
  level: 'inline',
  start: (source) => source.search(/\$|\\\(/),
  tokenizer(source) {
    // No space inside and no digit behind: amounts of money are no math.
    const match = /^(?:\$(?! )([^$\n]+?)(?<! )\$(?!\d)|\\\(([^\n]+?)\\\))/.exec(source)
    if (match === null) return undefined
    return { type: 'mathInline', raw: match[0], text: match[1] ?? match[2] ?? '' }
  },
}

const marked = new Marked({ gfm: true, breaks: true, extensions: [mathBlock, mathInline] })

/** The blocks of a text. A text that cannot be parsed is one block of plain text. */
export function parseBlocks(text: string): Token[] {
  try {
    return marked.lexer(text)
  } catch {
    // Nesting that exhausts the stack: nothing is lost, it is shown as it was written.
    return [plainBlock(text)]
  }
}

function plainBlock(text: string): Tokens.Text {
  return { type: 'text', raw: text, text }
}

/** Parses a growing text, of which only the last block can change. */
export class BlockParser {
  #done: Token[] = []
  /** The text of `#done`. */
  #prefix = ''

  /** `isOpen`: more text follows, so unfinished syntax is shown as if it were finished. */
  parse(text: string, isOpen: boolean): readonly Token[] {
    if (!text.startsWith(this.#prefix)) {
      this.#done = []
      this.#prefix = ''
    }
    const blocks = parseBlocks(text.slice(this.#prefix.length))
    const first = firstOpen(blocks)
    const [closed, open] = [blocks.slice(0, first), blocks.slice(first)]
    const last = open.at(-1)
    if (last === undefined) return this.#done
    // The lexer replaces tabs and line ends in some texts, and then nothing is kept.
    const prefix = this.#prefix + closed.map(({ raw }) => raw).join('')
    if (text.startsWith(prefix)) {
      this.#done = [...this.#done, ...closed]
      this.#prefix = prefix
      const end = isOpen ? finish(last) : [last]
      return [...this.#done, ...open.slice(0, -1), ...end]
    }
    return [...this.#done, ...blocks]
  }
}

/** Index of the first block that more text can change: the last one, with a list before it, which goes on after blank lines. */
function firstOpen(blocks: readonly Token[]): number {
  const before = (index: number): number =>
    blocks.slice(0, Math.max(0, index)).findLastIndex(({ raw }) => raw.trim() !== '')
  const last = before(blocks.length)
  const list = before(last)
  return Math.max(0, blocks[list]?.type === 'list' ? list : last)
}

function finish(last: Token): Token[] {
  return last.type === 'code' ? [last] : parseBlocks(remend(last.raw, { katex: true }))
}

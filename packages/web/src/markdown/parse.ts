import type { Token, Tokens } from 'marked'
import remend from 'remend'
import type { Definitions } from './lexer.ts'
import { lex, noDefinitions } from './lexer.ts'

/** A single tilde is text. An unfinished link is its text. */
const REMEND_OPTIONS = { katex: true, singleTilde: false, linkMode: 'text-only' } as const

/** The blocks of a text. A text that cannot be parsed is one block of plain text. */
export function parseBlocks(text: string): Token[] {
  return readBlocks(text, noDefinitions())
}

/** `definitions` takes in those of the text. */
function readBlocks(text: string, definitions: Definitions, growing?: string): Token[] {
  try {
    return lex(text, definitions, growing)
  } catch {
    // Nesting that exhausts the stack: nothing is lost, it is shown as it was written.
    return [plainBlock(text)]
  }
}

function plainBlock(text: string): Tokens.Text {
  return { type: 'text', raw: text, text }
}

/** Whether both are drawn the same. What a block with brackets refers to may stand in another block. */
export function isSameBlock(one: Token, other: Token): boolean {
  if (one === other) return true
  if (one.raw !== other.raw || one.type !== other.type) return false
  return !one.raw.includes('[') || JSON.stringify(one) === JSON.stringify(other)
}

/** Parses a growing text, of which only the last block can change, and each that refers to a definition below it. */
export class BlockParser {
  #done: readonly Token[] = []
  /** The text of `#done`. */
  #prefix = ''
  #definitions = noDefinitions()
  #ended: { readonly text: string; readonly blocks: readonly Token[] } | undefined

  /** `isOpen`: more text follows, so unfinished syntax is shown as if it were finished. */
  parse(text: string, isOpen: boolean): readonly Token[] {
    if (isOpen) return this.#parseOpen(text)
    if (this.#ended?.text !== text) this.#ended = { text, blocks: parseBlocks(text) }
    return this.#ended.blocks
  }

  #parseOpen(text: string): readonly Token[] {
    if (!text.startsWith(this.#prefix)) this.#restart(noDefinitions())
    const known = Object.keys(this.#definitions).length
    const rest = text.slice(this.#prefix.length)
    const blocks = readBlocks(rest, this.#definitions, rest)
    if (this.#prefix !== '' && Object.keys(this.#definitions).length > known) {
      this.#restart(this.#definitions)
      return this.#parseOpen(text)
    }
    const first = firstOpen(blocks)
    const [closed, open] = [blocks.slice(0, first), blocks.slice(first)]
    const last = open.at(-1)
    if (last === undefined) return this.#done
    // The lexer replaces tabs and line ends in some texts, and then nothing is kept.
    const prefix = this.#prefix + closed.map(({ raw }) => raw).join('')
    if (!text.startsWith(prefix)) return [...this.#done, ...blocks]
    this.#done = [...this.#done, ...closed]
    this.#prefix = prefix
    return [...this.#done, ...open.slice(0, -1), ...this.#finish(last)]
  }

  /** Forgets the blocks: their text was replaced, or may refer to a definition that was found. */
  #restart(definitions: Definitions): void {
    this.#done = []
    this.#prefix = ''
    this.#definitions = definitions
  }

  #finish(last: Token): Token[] {
    if (last.type === 'code' || last.type === 'def') return [last]
    const finished = remend(last.raw, REMEND_OPTIONS)
    return readBlocks(finished, this.#definitions, last.raw)
  }
}

const GOES_ON = new Set(['list', 'footnote'])

/**
 * Index of the first block that more text can change: the last one, with a list or footnote before it, which goes on after
 * blank lines, or with a paragraph, of which it may be a part.
 */
function firstOpen(blocks: readonly Token[]): number {
  const before = (index: number): number =>
    blocks.slice(0, Math.max(0, index)).findLastIndex(({ raw }) => raw.trim() !== '')
  const last = before(blocks.length)
  const other = before(last)
  const { type = '', raw = '' } = blocks[other] ?? {}
  const isOpen = GOES_ON.has(type) || (other === last - 1 && !raw.endsWith('\n'))
  return Math.max(0, isOpen ? other : last)
}

import type { Token, Tokens } from 'marked'
import remend from 'remend'
import type { Definitions } from './lexer.ts'
import { lex, noDefinitions } from './lexer.ts'

/** A single tilde is text. An unfinished link is its text. */
const REMEND_OPTIONS = { katex: true, singleTilde: false, linkMode: 'text-only' } as const

/** A longer block, in characters, is not finished while it grows: `remend` reads a text again at each of its marks. */
const MAX_FINISHED_LENGTH = 3000

/** A longer growing block is parsed again when it has grown by a part of its length: pieces may be small, and many. */
const MAX_EACH_PIECE_LENGTH = 20_000
const MIN_GROWTH = 1 / 200

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
  /** The last result, and the text of what was open in it. */
  #open = { text: '', blocks: [] as readonly Token[] }
  #ended: { readonly text: string; readonly blocks: readonly Token[] } | undefined

  /** `isOpen`: more text follows, so unfinished syntax is shown as if it were finished. */
  parse(text: string, isOpen: boolean): readonly Token[] {
    if (isOpen) return this.#parseOpen(text)
    if (this.#ended?.text !== text) this.#ended = { text, blocks: parseBlocks(text) }
    return this.#ended.blocks
  }

  #parseOpen(text: string): readonly Token[] {
    const tail = this.#shortTail(text)
    if (tail !== undefined) return withTail(this.#open.blocks, tail)
    const blocks = this.#parseGrown(text)
    this.#open = { text, blocks }
    return blocks
  }

  /** What was added to the text that was parsed, if it is too short to parse the open block again. */
  #shortTail(text: string): string | undefined {
    const { text: before } = this.#open
    const length = before.length - this.#prefix.length
    const isShort =
      length > MAX_EACH_PIECE_LENGTH && text.length - before.length < length * MIN_GROWTH
    return isShort && text.startsWith(before) ? text.slice(before.length) : undefined
  }

  #parseGrown(text: string): readonly Token[] {
    if (!text.startsWith(this.#prefix)) this.#restart(noDefinitions())
    const known = Object.keys(this.#definitions).length
    const rest = text.slice(this.#prefix.length)
    const blocks = readBlocks(rest, this.#definitions, rest)
    if (this.#prefix !== '' && Object.keys(this.#definitions).length > known) {
      this.#restart(this.#definitions)
      return this.#parseGrown(text)
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
    // Items before the last one are finished.
    const isLong = last.raw.length > MAX_FINISHED_LENGTH
    const end = isLong && last.type === 'list' ? String(last['items'].at(-1)?.raw) : last.raw
    if (end.length > MAX_FINISHED_LENGTH || !last.raw.endsWith(end)) return [last]
    const finished = remend(end, REMEND_OPTIONS)
    const before = last.raw.slice(0, last.raw.length - end.length)
    return readBlocks(before + finished, this.#definitions, last.raw)
  }
}

/** The blocks with text behind them, of which its place in them is not known yet. */
function withTail(blocks: readonly Token[], tail: string): readonly Token[] {
  const last = blocks.at(-1)
  if (tail === '' || last === undefined) return blocks
  const isOpenCode =
    last.type === 'code' &&
    last['codeBlockStyle'] !== 'indented' &&
    !/[`~]/.test(last.raw.trimEnd().slice(-1) + tail)
  if (!isOpenCode) return [...blocks, plainBlock(tail)]
  const raw = last.raw + tail
  return [...blocks.slice(0, -1), { ...last, raw, text: raw.slice(raw.indexOf('\n') + 1) }]
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

import type { Token, Tokens, TokensList } from 'marked'
import { Lexer, Marked, Tokenizer } from 'marked'
import { addressRule } from './address.ts'
import type { Span } from './emphasis.ts'
import { findEmphasis } from './emphasis.ts'
import { extensions, maskMath } from './extensions.ts'

/** The label of a definition that is not complete. No link has it. */
const HALF = ''

/** Addresses of links, and the footnotes, by their labels. */
export type Definitions = TokensList['links']

/** Labels may be the names of what objects have: "constructor". */
export const noDefinitions = (): Definitions => Object.create(null)

const { defaults: options } = new Marked(
  { gfm: true, breaks: true, extensions },
  { hooks: { emStrongMask: maskMath } },
)
const { breaks } = Lexer.rules.inline
const inlineRules = {
  ...breaks,
  url: addressRule,
  // At each letter marked looks whether it begins an address of mail. The part before the `@` has 64 at most.
  text: new RegExp(breaks.text.source.replaceAll('-]+@', '-]{1,64}@'), breaks.text.flags),
}

/** Rules for marks within lines read a text again at each mark. Longer texts have them in each line alone, or none. */
const MAX_INLINE_LENGTH = 10_000

/** A longer paragraph above a line is no heading. */
const MAX_HEADING_LENGTH = 1000

/** Deeper nesting is shown as it was written: each depth reads its text again. */
export const MAX_DEPTH = 24

class AnswerLexer extends Lexer {
  #depth = 0

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.#depth > MAX_DEPTH) {
      tokens.push({ type: 'text', raw: source, text: source })
      return tokens
    }
    this.#depth++
    try {
      return super.blockTokens(source, tokens, isClipped)
    } finally {
      this.#depth--
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (source.length <= MAX_INLINE_LENGTH) return super.inlineTokens(source, tokens)
    for (const line of source.split(/(\n)/)) {
      if (line === '\n') tokens.push({ type: 'br', raw: line })
      else if (line.length <= MAX_INLINE_LENGTH) super.inlineTokens(line, tokens)
      else tokens.push({ type: 'text', raw: line, text: line, escaped: false })
    }
    return tokens
  }
}

interface Emphasis {
  readonly size: number
  readonly token: Pick<Tokens.Em, 'raw' | 'text' | 'tokens'>
}

/** Reads answers as CommonMark and GFM with the rules for Chinese, Japanese and Korean. */
class AnswerTokenizer extends Tokenizer {
  /** The text, if more follows. */
  readonly #growing: string | undefined
  /** The emphasis of each line, by its masked text. The line begins at `from` of the spans. */
  readonly #lines = new Map<string, { spans: ReadonlyMap<number, Span>; from: number }>()

  constructor(growing: string | undefined) {
    super()
    this.#growing = growing
  }

  override emStrong(source: string, masked: string): Tokens.Em | Tokens.Strong | undefined {
    const found = /^[*_]/.test(source) ? this.#emphasis(source, masked) : undefined
    return found && { type: found.size === 1 ? 'em' : 'strong', ...found.token }
  }

  override del(source: string, masked: string): Tokens.Del | undefined {
    const found = source.startsWith('~~') ? this.#emphasis(source, masked) : undefined
    return found && { type: 'del', ...found.token }
  }

  /** The emphasis with which `source`, the end of a line, begins. `masked` is the whole line. */
  #emphasis(source: string, masked: string): Emphasis | undefined {
    const line = this.#lines.get(masked) ?? { spans: findEmphasis(masked), from: 0 }
    this.#lines.set(masked, line)
    const start = masked.length - source.length
    const span = line.spans.get(line.from + start)
    if (span === undefined) return undefined
    const { length, size } = span
    const raw = source.slice(0, length)
    const text = raw.slice(size, -size)
    // marked reads the inner text as a line of its own, whose marks still depend on the signs around it.
    const inner = masked.slice(start + size, start + length - size)
    const other = this.#lines.get(inner)
    this.#lines.set(inner, { spans: line.spans, from: line.from + start + size })
    const tokens = this.lexer.inlineTokens(text)
    if (other === undefined) this.#lines.delete(inner)
    else this.#lines.set(inner, other)
    return { size, token: { raw, text, tokens } }
  }

  /** The rule reads to the next blank line, and is asked at each paragraph before it. */
  override lheading(source: string): Tokens.Heading | undefined {
    return super.lheading(source.slice(0, MAX_HEADING_LENGTH))
  }

  override html(source: string): Tokens.HTML | undefined {
    return /^ {0,3}<\/?br\s*\/?>/i.test(source) ? undefined : super.html(source)
  }

  /** Half an address is no address: it would lead to another host. */
  override url(source: string): Tokens.Link | undefined {
    const address = addressRule.exec(source)?.[0] ?? ''
    const isHalf =
      this.#growing?.endsWith(source) === true && /^[\w.-]*$/.test(source.slice(address.length))
    return isHalf ? undefined : super.url(source)
  }

  override def(source: string): Tokens.Def | undefined {
    const token = super.def(source)
    if (token === undefined) return undefined
    if (token.raw === source && this.#growing?.endsWith(source) === true)
      return { ...token, tag: HALF }
    // A word is no address, and would not be shown: "[Note]: later".
    return /[/.:?#@]/.test(token.href) ? token : undefined
  }
}

/** The blocks of `source`. `definitions` takes in those of the source. `growing`: the text of the source, if more follows. */
export function lex(source: string, definitions: Definitions, growing?: string): Token[] {
  const tokenizer = new AnswerTokenizer(growing)
  const lexer = new AnswerLexer({ ...options, tokenizer })
  tokenizer.rules = { ...tokenizer.rules, inline: inlineRules }
  lexer.tokens.links = definitions
  const blocks = Array.from(lexer.lex(source))
  delete definitions[HALF]
  return blocks
}

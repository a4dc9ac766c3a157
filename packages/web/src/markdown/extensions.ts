import type { TokenizerAndRendererExtension } from 'marked'

// No space inside, and no letter or digit at its outer sides: amounts of money and variables of a shell are no math.
const INLINE_MATH =
  /(?<![a-z\d])(\$\$?)(?![ $]|\([^$\n]*\$\()([^$\n]+?)(?<! )\1(?![a-z\d_{])|\\\(([^\n]+?)\\\)/gi
const NEXT_INLINE_MATH = new RegExp(INLINE_MATH, 'iy')

/** TeX between `$$` or `\[ \]`, and `$` or `\( \)` within a line. */
const mathBlock: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  // Within a line `\[` is an escaped bracket.
  start: (source) => source.search(/\$\$[^$]+\$\$(?:\n|$)|(?<=\n)\\\[[^]+?\\\](?:\n|$)/),
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
  tokenizer(source, before) {
    NEXT_INLINE_MATH.lastIndex = 0
    const match = NEXT_INLINE_MATH.exec(source)
    if (match === null || /[a-z\d]/i.test(before.at(-1)?.raw.at(-1) ?? '')) return undefined
    return { type: 'mathInline', raw: match[0], text: match[2] ?? match[3] ?? '' }
  },
}

/** Marks within math are none of emphasis. */
export function maskMath(source: string): string {
  return source.replaceAll(INLINE_MATH, ({ length }) => '$'.repeat(length))
}

/** The only tag with a meaning. The ends of lines beside it are no breaks of their own. */
const lineBreak: TokenizerAndRendererExtension = {
  name: 'lineBreak',
  level: 'inline',
  tokenizer(source) {
    const match = /^(?:[ \t]*\n[ \t]*)?<\/?br\s*\/?>(?:[ \t]*\n[ \t]*)?/i.exec(source)
    return match === null ? undefined : { type: 'br', raw: match[0] }
  },
}

/** Footnotes are among the definitions of links. */
const footnoteKey = (label: string): string => `^${label.toLowerCase()}`

const FOOTNOTE = /^ {0,3}\[\^([^\]\s]+)\]:/
const INDENT = /^(?: {4}|\t)/
/** A line that does not go on with the footnote above it. */
const NO_FOOTNOTE = /^ {0,3}(?:\[\^[^\]\s]+\]:|[#>`|~*+-])/

/** The footnote with which `source` begins: up to a blank line or another block, unless indented text follows. */
function footnoteLines(source: string): string[] {
  const lines: string[] = []
  for (const { 0: line, index } of source.matchAll(/.+|(?<=\n)(?=\n)/g)) {
    const next = source.slice(index + line.length + 1, index + line.length + 5)
    const isEnd = line.trim() === '' ? !INDENT.test(next) : NO_FOOTNOTE.test(line)
    if (lines.length > 0 && isEnd) break
    lines.push(line)
  }
  return lines
}

const footnote: TokenizerAndRendererExtension = {
  name: 'footnote',
  level: 'block',
  start: (source) => source.search(/(?<=\n) {0,3}\[\^[^\]\s]+\]:/),
  tokenizer(source) {
    const [mark, label] = FOOTNOTE.exec(source) ?? []
    if (mark === undefined || label === undefined) return undefined
    const lines = footnoteLines(source)
    this.lexer.tokens.links[footnoteKey(label)] = { href: '', title: null }
    const text = lines.map((line) => line.replace(INDENT, '')).join('\n')
    const tokens = this.lexer.blockTokens(text.slice(mark.length).trim(), [])
    return { type: 'footnote', raw: lines.join('\n'), label, tokens }
  },
}

const footnoteMark: TokenizerAndRendererExtension = {
  name: 'footnoteMark',
  level: 'inline',
  start: (source) => source.indexOf('[^'),
  tokenizer(source) {
    const [raw = '', label = ''] = /^\[\^([^\]\s]+)\]/.exec(source) ?? []
    const isDefined = this.lexer.tokens.links[footnoteKey(label)] !== undefined
    return isDefined ? { type: 'footnoteMark', raw, text: label } : undefined
  },
}

export const extensions = [mathBlock, mathInline, lineBreak, footnote, footnoteMark]

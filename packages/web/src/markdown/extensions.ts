import type { TokenizerAndRendererExtension } from 'marked'

// No space inside, and no letter or digit at its outer sides: amounts of money and variables of a shell are no math.
const INLINE_MATH =
  /(?<![a-z\d])(\$\$?)(?![ $]|\([^$\n]*\$\()([^$\n]+?)(?<! )\1(?![a-z\d_{])|\\\(([^\n]{1,2000}?)\\\)/gi
const NEXT_INLINE_MATH = new RegExp(INLINE_MATH, 'iy')

/**
 * marked asks at each paragraph what interrupts it, and at each mark what it begins. Without a limit, each answer would read
 * the whole text that follows.
 */
const MAX_AHEAD = 3000

/** Where the next `\]` ends a line. */
function endOfMath(source: string, from: number): number {
  const found = source.slice(from, from + MAX_AHEAD).search(/\\\]$/m)
  return found === -1 ? Number.POSITIVE_INFINITY : from + found
}

/** The length of the block of TeX that begins at `index`; 0 if none does. */
function mathBlockLength(source: string, index: number): number {
  const near = source.slice(index, index + MAX_AHEAD)
  const [raw = ''] = /\$\$[^$]+\$\$$/my.exec(near) ?? []
  const length = near.startsWith('\\[') ? endOfMath(near, 3) + 2 : raw.length
  return length > 0 && length <= MAX_AHEAD && '\n'.startsWith(source.charAt(index + length))
    ? length
    : 0
}

/** The places of `marks` in the paragraph with which `source` begins. `marks` has blank lines, too, which end it. */
function* findInParagraph(source: string, marks: RegExp): Generator<number> {
  for (const { 0: mark, index } of source.slice(0, MAX_AHEAD).matchAll(marks)) {
    if (mark.trim() === '') return
    yield index
  }
}

/** TeX between `$$` or `\[ \]`, and `$` or `\( \)` within a line. */
const mathBlock: TokenizerAndRendererExtension = {
  name: 'mathBlock',
  level: 'block',
  start(source) {
    /** Where the first `\]` behind the marks so far ends a line: one search is for all marks before it. */
    let end = 0
    // Within a line `\[` is an escaped bracket.
    for (const index of findInParagraph(source, /\$\$|(?<=\n)(?:\\\[|[ \t]*\n)/g)) {
      if (source[index] === '\\') {
        if (end < index + 3) end = endOfMath(source, index + 3)
        if (end > index + MAX_AHEAD) continue
      }
      if (mathBlockLength(source, index) > 0) return index
    }
    return undefined
  },
  tokenizer(source) {
    const length = mathBlockLength(source, 0)
    if (length === 0) return undefined
    const text = source.slice(2, length - 2).trim()
    return { type: 'mathBlock', raw: source.slice(0, length + 1), text }
  },
}

const mathInline: TokenizerAndRendererExtension = {
  name: 'mathInline',
  level: 'inline',
  // marked's texts end at each of the other marks.
  start: (source) => source.indexOf('$'),
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
  start: (source) =>
    findInParagraph(source, /(?<=\n)(?: {0,3}\[\^[^\]\s]+\]:|[ \t]*\n)/g).find(() => true),
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
  tokenizer(source) {
    const [raw = '', label = ''] = /^\[\^([^\]\s]+)\]/.exec(source) ?? []
    const isDefined = this.lexer.tokens.links[footnoteKey(label)] !== undefined
    return isDefined ? { type: 'footnoteMark', raw, text: label } : undefined
  },
}

export const extensions = [mathBlock, mathInline, lineBreak, footnote, footnoteMark]

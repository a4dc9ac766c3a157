// The rules of CommonMark for emphasis, exactly, and beside Chinese, Japanese and Korean those of
// https://github.com/tats-u/markdown-cjk-friendly: these languages have no spaces, so that CommonMark would take the mark
// between full-width punctuation and a letter for text. marked's own rules are neither.

/** Emphasis with its marks. */
export interface Span {
  readonly length: number
  /** The length of the mark at each end. */
  readonly size: number
}

const SPACE = /^\s?$/
const PUNCTUATION = /[\p{P}\p{S}]/u
const CJK =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\u3001-\u33FF\uFE10-\uFE1F\uFE30-\uFE6F\uFF01-\uFFEE]|[\u{E0100}-\u{E01EF}]/u

/** The same marks beside each other. */
interface Run {
  readonly sign: string
  readonly length: number
  readonly canOpen: boolean
  readonly canClose: boolean
  /** What is not used yet. */
  start: number
  count: number
}

/** The emphasis of a line of text, by its start. In `source` code, links and escapes are masked. */
export function findEmphasis(source: string): Map<number, Span> {
  const spans = new Map<number, Span>()
  const openers: Run[] = []
  /** Where the search for an opener ends, since a run of the same kind has found none before. */
  const bottoms = new Map<string, number>()
  for (const run of runs(source)) {
    while (run.canClose && run.count > 0) {
      const kind = `${run.sign}${run.canOpen}${run.length % 3}`
      const bottom = bottoms.get(kind) ?? 0
      const index = openers.findLastIndex((opener) => opener.start < bottom || isPair(opener, run))
      const opener = openers[index]
      if (opener === undefined || opener.start < bottom) {
        bottoms.set(kind, run.start)
        break
      }
      const size = Math.min(opener.count, run.count, 2)
      opener.count -= size
      run.count -= size
      run.start += size
      const start = opener.start + opener.count
      spans.set(start, { length: run.start - start, size })
      openers.length = opener.count === 0 ? index : index + 1
    }
    if (run.canOpen && run.count > 0) openers.push(run)
  }
  return spans
}

function isPair(opener: Run, closer: Run): boolean {
  if (opener.sign !== closer.sign) return false
  const isOneOfBoth = opener.canClose || closer.canOpen
  const isThird = (opener.length + closer.length) % 3 === 0 && opener.length % 3 !== 0
  return !(isOneOfBoth && isThird)
}

function* runs(source: string): Generator<Run> {
  for (const { 0: marks, index } of source.matchAll(/\*+|_+|~+/g)) {
    const sign = marks.charAt(0)
    const { length } = marks
    // A single tilde is text: "3~5 days, 10~20 dollars".
    if (sign === '~' && length !== 2) continue
    const before = Array.from(source.slice(Math.max(0, index - 2), index)).at(-1) ?? ''
    const after = String.fromCodePoint(source.codePointAt(index + length) ?? 0x20)
    yield { sign, length, start: index, count: length, ...flanks(sign, before, after) }
  }
}

function flanks(sign: string, before: string, after: string): Pick<Run, 'canOpen' | 'canClose'> {
  // Within a word `_` is text, in each language.
  const isCjk = (letter: string): boolean => sign !== '_' && CJK.test(letter)
  const isPunctuation = (letter: string): boolean => PUNCTUATION.test(letter) && !isCjk(letter)
  /** Whether a mark between both may begin emphasis, with `inner` within it. */
  const mayBegin = (outer: string, inner: string): boolean =>
    !SPACE.test(inner) &&
    (!isPunctuation(inner) || SPACE.test(outer) || isPunctuation(outer) || isCjk(outer))
  const [isLeft, isRight] = [mayBegin(before, after), mayBegin(after, before)]
  if (sign !== '_') return { canOpen: isLeft, canClose: isRight }
  return {
    canOpen: isLeft && (!isRight || isPunctuation(before)),
    canClose: isRight && (!isLeft || isPunctuation(after)),
  }
}

import type { Span } from '../reading/literals.ts'
import { overlaps } from '../reading/literals.ts'
import type { Draft } from './draft.ts'

/** Words capitalised in mid-sentence: most likely a name. */
export function capitalisedWords(draft: Draft): (Span & { text: string }) | undefined {
  const { text } = draft.clause
  for (const match of text.matchAll(
    /(?<![\p{L}\p{N}_./-])\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/gu,
  )) {
    const span = { start: match.index, end: match.index + match[0].length }
    const isTool = draft.name.some((other) => overlaps(other, span))
    const isSentenceStart = match.index === 0 && LEAD.test(match[0])
    if (draft.isFree(span) && !isTool && !isSentenceStart && match[0] !== 'I') {
      return { ...span, text: match[0] }
    }
  }
  return undefined
}

/** What is left of the clause without the tool's name, the values used and the polite words around. */
export function restOfClause(draft: Draft): Span & { text: string } {
  const { text } = draft.clause
  const gone = [...draft.name, ...draft.taken].toSorted((one, other) => one.start - other.start)
  let kept = ''
  let from = 0
  let start: number | undefined
  let end = 0
  for (const span of [...gone, { start: text.length, end: text.length }]) {
    if (span.start > from) {
      const piece = text.slice(from, span.start)
      if (/[\p{L}\p{N}]/u.test(piece)) {
        start ??= from
        end = span.start
      }
      kept += piece
    }
    from = Math.max(from, span.end)
  }
  const isCut = gone.some((span) => span.start >= end && span.end > span.start)
  return { text: strip(kept, isCut), start: start ?? 0, end }
}

const LEAD =
  /^(?:please|kindly|hey|hi|okay|so|first|next|now|finally|also|can you|could you|would you|will you|i want you to|i want to|i'd like to|i would like to|let's|let us|call|run|use|invoke|execute|try|show|give|tell|get|find|what is|what's|what are|how is|who is|what|me|us|you|that|saying|tool|back)(?![\p{L}\p{N}])[\s:,]*/iu
const LEADING_PREPOSITION =
  /^(?:(?:the|a|an|my|this)\s+)?(?:for|to|of|about|with|in|on|from|at|by|called|named|and|into)(?![\p{L}\p{N}])\s*/iu
const POLITE_TAIL = /[\s,;:]+(?:please|thanks|thank you)$/i
/** What led up to a value that was used otherwise. */
const LOOSE_END = /(?:^|[\s,;:]+)(?:in|to|from|at|on|with|of|for|and|by|into|as|the|a|an|tool)$/i
function strip(raw: string, isCut: boolean): string {
  let text = raw.replaceAll(/[ \t]{2,}/g, ' ').trim()
  for (;;) {
    let next = text
      .replace(/^[\s,;:=?!.-]+|[\s,;:=-]+$/g, '')
      .replace(LEAD, '')
      .replace(LEADING_PREPOSITION, '')
      .replace(POLITE_TAIL, '')
    if (isCut) next = next.replace(LOOSE_END, '')
    if (next === text) return text
    text = next
  }
}

import { estimateTokens } from './estimate-tokens.ts'

/** Longer pieces are split at this length: few tokens are longer, and short pieces keep the counting cheap. */
const MAX_TOKEN_LENGTH = 8

/** The share of the kept text that is at the beginning. */
const HEAD = 0.75

/** The beginning and end of a text that exceeds a number of tokens; `undefined` for a shorter text. */
export function cutText(
  text: string,
  maxTokens: number,
): { readonly head: string; readonly tail: string } | undefined {
  if (text.length <= maxTokens) return undefined
  let kept = Math.min(text.length, maxTokens * MAX_TOKEN_LENGTH)
  for (;;) {
    const head = text.slice(0, charStart(text, Math.ceil(kept * HEAD)))
    const tail = text.slice(charStart(text, text.length - Math.floor(kept * (1 - HEAD))))
    const tokens = estimateTokens(head) + estimateTokens(tail)
    // Parts of a text differ in density, so one cut may not be enough. An excess of one per cent is accepted.
    if (tokens <= maxTokens * 1.01) return kept === text.length ? undefined : { head, tail }
    kept = Math.floor((kept * maxTokens) / tokens)
  }
}

/** The given place, or the one before it when it is within a surrogate pair. In UTF-16 units. */
export function charStart(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

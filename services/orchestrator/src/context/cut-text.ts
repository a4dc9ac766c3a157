import { estimateTokens } from './estimate-tokens.ts'

/** Longer pieces are cut whatever they hold: few tokens are longer, and all that follows stays cheap. */
const MAX_TOKEN_LENGTH = 8

/** The share of the kept text that is at the beginning. */
const HEAD = 0.75

/** Beginning and end of a text that is longer than so many tokens; `undefined` when it is not. */
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
    // Parts differ, so that the first cut may not be enough; the last per cent is not worth another.
    if (tokens <= maxTokens * 1.01) return kept === text.length ? undefined : { head, tail }
    kept = Math.floor((kept * maxTokens) / tokens)
  }
}

/** The place itself, or that before it when it is inside of a character. In UTF-16 units. */
export function charStart(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

/** Longer texts are not searched. */
const MAX_LENGTH = 4_000

/** What a prompt is called. */
const PROMPT = String.raw`\b(?:prompts?|inputs?|requests?|requested|messages|conversation|sequence|query)\b`
const SIZE = String.raw`(?:tokens?|length|size|window)\b`
const OVER = String.raw`(?:exceed|too (?:long|large|big|many)|(?:long|great|larg|bigg)er than|more than|less than|at most|maximum|limit|must be|should be|cannot be)`

/**
 * What providers and local servers say of a prompt that exceeds the context window: codes, types and phrases. Each
 * server has words of its own, so most patterns are a name for the prompt near a measure and a comparison.
 */
const TOO_LONG = [
  /context[-_ ]?(?:length|window|size|limit|is full)|context (?:the )?overflow/,
  /request[-_ ]too[-_ ]large|input[-_ ]too[-_ ]long|prompt[-_ ](?:is )?too[-_ ]long|max_prompt_tokens/,
  /max_seq_len|max(?:imum)? (?:model|sequence|prompt|input) len|model token limit/,
  new RegExp(
    String.raw`${PROMPT} ?(?:text |content )?(?:is |are |was |has become )?too (?:long|large|big)`,
  ),
  new RegExp(String.raw`${PROMPT}.{0,60}\b${SIZE}.{0,60}${OVER}`),
  new RegExp(String.raw`\btokens?\b.{0,60}${PROMPT}.{0,60}${OVER}`),
  new RegExp(String.raw`${PROMPT}.{0,60}\bexceed.{0,60}\b${SIZE}`),
  new RegExp(String.raw`${PROMPT}.{0,30}\btoo large for\b`),
  new RegExp(String.raw`${PROMPT}.{0,40}(?:less than|at most|no more than) \d+ tokens`),
  /too many (?:input |prompt )?tokens|reduce the length of the (?:messages|prompt|input)/,
  /content'?: string too long/,
]
/** Limits of the answer, or for one part of a request, which a shorter conversation does not help. */
const OTHER_LIMIT =
  /\b(?:image|picture|file|pdf|audio|video|tools?|function|schema)\b.{0,60}(?:exceed|too)|(?:output|completion) tokens?\b/
const CONTEXT = /context|prompt|input (?:length|tokens)/

/** Whether a provider's words say that the conversation exceeds the context window. */
export function saysTooLong(words: string): boolean {
  const text = words
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[\s`"]+/g, ' ')
  if (OTHER_LIMIT.test(text) && !CONTEXT.test(text)) return false
  return TOO_LONG.some((pattern) => pattern.test(text))
}

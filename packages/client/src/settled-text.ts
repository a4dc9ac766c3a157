/** Advice to the model at the end of what the host answers in place of a tool. */
const ADVICE =
  / (?:Do not try (?:it|them) again|Answer with what you have|Use only the tools you were given, by their exact names)\.$/

/** Why a call was not run, for a user: the words of the host without those that only the model needs. */
export function settledText(message: string): string {
  const text = message.replace(/^not run: /, '').replace(ADVICE, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

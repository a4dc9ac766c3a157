/** The words of a name, split at camelCase, snake_case, kebab-case and the like, in lower case. */
export function nameWords(name: string): string[] {
  const spaced = name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
  return (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.toLowerCase())
}

/** A name without its separators, to find it however it is written. */
export function squash(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** Light stemming: "files" and "file", "listing" and "list" become one. */
export function stem(word: string): string {
  let root = word
  if (root.endsWith('ies') && root.length > 4) root = `${root.slice(0, -3)}y`
  else if (/(?:ss|x|ch|sh|o)es$/.test(root) && root.length > 4) root = root.slice(0, -2)
  else if (/[^suiy]s$/.test(root) && root.length > 3) root = root.slice(0, -1)
  else if (/[^e]ed$/.test(root) && root.length > 4) root = withoutSuffix(root, 2)
  else if (root.endsWith('ing') && root.length > 5) root = withoutSuffix(root, 3)
  else if (root.endsWith('ly') && root.length > 5) root = root.slice(0, -2)
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root
}

function withoutSuffix(word: string, length: number): string {
  const root = word.slice(0, -length)
  if (!/[aeiouy]/.test(root)) return word
  return /([bdgmnprt])\1$/.test(root) && root.length > 3 ? root.slice(0, -1) : root
}

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  `a about after all also am an and any are as at back be been but by can could did do does doing down
  each every finally first for from give had has have he her here him his how i if in into is it
  its just kindly let like ll m may me more most my need next no not now of off on one only or other our out
  over own please re s same she should so some such t than thank thanks that the their them there these
  they this those to too tool tools under until up us use used useful using ve very via want was we were
  when where which while who whom why will with without would yes you your`.split(/\s+/),
)

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}

import { ObjectText } from './object-text.ts'

/** Limit for the calls that are made of one. */
const MAX_CALLS = 32

/**
 * The arguments of each call that a model wrote as one: some write several objects one after another. An empty object
 * before another, and a repeated one, are no calls of their own. Other text is kept as it is.
 */
export function splitArguments(json: string): string[] {
  if (isJson(json)) return [json]
  const objects = new Set<string>()
  let rest = json.trimStart()
  while (rest.startsWith('{') && objects.size < MAX_CALLS) {
    const object = new ObjectText()
    const after = object.take(rest)
    if (after === undefined || !isJson(object.text)) return [json]
    objects.add(object.text)
    rest = after.trimStart()
  }
  if (rest !== '') return [json]
  const filled = Array.from(objects).filter((each) => !/^\{\s*\}$/.test(each))
  return filled.length === 0 ? [json] : filled
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

import { MAX_JSON_DEPTH } from '@mcp-host/json'

/** The number of characters that take as long to check as one value. */
export const CHARACTERS_PER_VALUE = 32

/** The size of a value, which determines the time of a check. */
export interface ValueSize {
  /** The number of objects, arrays and scalars. Texts count one for each 32 characters. */
  readonly values: number
  /** The depth of objects and arrays. Above `MAX_JSON_DEPTH` the value was not measured completely. */
  readonly depth: number
  /** Characters of the longest string or key. */
  readonly longest: number
  /** Whether any string or key has a NUL character. */
  readonly hasNul: boolean
}

/** Measures arguments or a result in one pass. */
export function sizeOf(value: unknown): ValueSize {
  const size = { values: 0, depth: 0, longest: 0, hasNul: false }
  let characters = 0
  const addText = (text: string): void => {
    characters += text.length
    if (text.length > size.longest) size.longest = text.length
    if (text.includes('\0')) size.hasNul = true
  }
  const add = (each: unknown, depth: number): void => {
    size.values += 1
    if (typeof each === 'string') addText(each)
    if (typeof each !== 'object' || each === null || size.depth > MAX_JSON_DEPTH) return
    if (depth > size.depth) size.depth = depth
    if (Array.isArray(each)) {
      for (const item of each) add(item, depth + 1)
      return
    }
    for (const key of Object.keys(each)) {
      addText(key)
      add((each as Record<string, unknown>)[key], depth + 1)
    }
  }
  add(value, 1)
  size.values += Math.floor(characters / CHARACTERS_PER_VALUE)
  return size
}

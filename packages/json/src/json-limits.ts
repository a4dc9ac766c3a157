import { inspectJson } from './inspect-json.ts'

/**
 * The depth of objects and arrays in JSON from outside: arguments, results, schemas, errors. Real servers and clients
 * send fewer than 30 levels. Recursive code is safe up to this depth; V8's `JSON.stringify` overflows the stack at a
 * few thousand levels.
 */
export const MAX_JSON_DEPTH = 256

/** The names in objects of JSON from outside: parsing one takes a microsecond, and copying it another. */
export const MAX_JSON_NAMES = 200_000

/** The characters `{`, `[`, `:` and `,` of JSON from clients: about its number of values and names. */
const MAX_REQUEST_VALUES = 500_000
/** Shorter texts cannot have too many. */
const MIN_INSPECTED_BYTES = 256 * 1024

/** Why a text of a client must not be parsed: the rest of a sentence. */
export function excessOf({ buffer, byteOffset, length }: Uint8Array): string | undefined {
  if (length < MIN_INSPECTED_BYTES) return undefined
  const text = Buffer.from(buffer, byteOffset, length)
  const { values, names } = inspectJson(text, MAX_REQUEST_VALUES)
  if (values > MAX_REQUEST_VALUES) return `has more than ${MAX_REQUEST_VALUES} values and names`
  return names > MAX_JSON_NAMES ? `has more than ${MAX_JSON_NAMES} names in objects` : undefined
}

/** Describes the fault in an error message, after "is" or "are". */
export const TOO_DEEP = `nested more than ${MAX_JSON_DEPTH} levels deep`

/** Whether parsed JSON has more levels of objects and arrays than `limit`. */
export function isTooDeep(value: unknown, limit = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  // `in` would create a string for each index of an array.
  if (Array.isArray(value)) {
    for (const item of value) if (isTooDeep(item, limit - 1)) return true
    return false
  }
  for (const key in value) {
    if (isTooDeep((value as Record<string, unknown>)[key], limit - 1)) return true
  }
  return false
}

/** Whether JSON has more than `limit` values: objects, arrays and scalars. */
export function hasMoreValues(value: unknown, limit: number): boolean {
  let rest = limit
  const count = (each: unknown): boolean => {
    if ((rest -= 1) < 0) return true
    if (typeof each !== 'object' || each === null) return false
    return Object.values(each).some(count)
  }
  return count(value)
}

import { z } from 'zod'

type Json = z.core.util.JSONType

/** Readers may recurse into JSON of this depth. Entrances and supervisors refuse deeper JSON, by the same limit. */
const MAX_DEPTH = 256

const value = z.unknown().refine((each) => !isDeeper(each, MAX_DEPTH), 'nested too deeply')

/**
 * Any JSON, such as the arguments of a tool call. It is passed on as it is: the copies of `z.json()`, `z.record()` and
 * `z.looseObject()` lack a key `__proto__`, by which a user would allow another call than the one that runs.
 */
export const JsonValue = value.refine(
  (each) => each !== undefined,
  'is missing',
) as z.ZodType as z.ZodType<Json, Json>

/** Any object of JSON, passed on as it is. */
export const JsonObject = value
  .refine(isObject, 'must be an object')
  .meta({ type: 'object' }) as z.ZodType as z.ZodType<Record<string, Json>, Record<string, Json>>

function isObject(each: unknown): boolean {
  return typeof each === 'object' && each !== null && !Array.isArray(each)
}

/** Whether a value has more levels of objects and arrays. Stops at the first that exceeds the limit. */
function isDeeper(each: unknown, levels: number): boolean {
  if (typeof each !== 'object' || each === null) return false
  return levels === 0 || Object.values(each).some((inner) => isDeeper(inner, levels - 1))
}

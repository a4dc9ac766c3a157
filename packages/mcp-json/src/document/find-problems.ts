import type * as z from 'zod'

import { type JsonPath, ownValue, valueAt } from '@mcp-host/json'

/** A violation of a schema. */
export interface Problem {
  /** The path from the checked value. */
  readonly path: JsonPath
  /** Whether the last key of the path is at fault, and not its value. */
  readonly isAboutKey: boolean
  readonly message: string
}

/** All violations of `schema`. The messages contain nothing of the value, which may be secret. */
export function findProblems(schema: z.ZodType, value: unknown): readonly Problem[] {
  let result: z.ZodSafeParseResult<unknown>
  try {
    result = schema.safeParse(value)
  } catch {
    return [{ path: uncheckable(schema, value), isAboutKey: false, message: 'is not valid' }]
  }
  return (result.error?.issues ?? []).flatMap((issue) => toProblems(issue, value))
}

/** The path of a field for which zod throws. Zod compares the `length` of any value, even of an object. */
function uncheckable(schema: z.ZodType, value: unknown): JsonPath {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .filter((key) => {
      try {
        schema.safeParse({ [key]: Reflect.get(value, key) })
        return false
      } catch {
        return true
      }
    })
    .slice(0, 1)
}

function toProblems(issue: z.core.$ZodIssue, value: unknown): readonly Problem[] {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      isAboutKey: true,
      message: 'is not a known field',
    }))
  }
  if (issue.code === 'invalid_key') {
    return [{ path, isAboutKey: true, message: issue.issues[0]?.message ?? message }]
  }
  if (issue.code === 'invalid_union') {
    // The faults of the alternative that the value most resembles are more helpful than "none fits".
    const closest = issue.errors.find((nested) => nested.every((inner) => inner.path.length > 0))
    const inside = closest?.map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
    if (inside !== undefined) return inside.flatMap((inner) => toProblems(inner, value))
  }
  const isMissing = issue.code !== 'custom' && valueAt(value, path) === undefined
  return [{ path, isAboutKey: false, message: isMissing ? 'is missing' : message }]
}

/** The remedy of a field, or one with the example in its description. */
export function remedyOf(schema: z.ZodObject, field: PropertyKey | undefined): string | undefined {
  const { remedy, examples } = ownValue(schema.shape, String(field))?.meta() ?? {}
  if (typeof remedy === 'string') return remedy
  if (!Array.isArray(examples) || examples.length === 0) return undefined
  const example = JSON.stringify(examples[0], undefined, 1).replaceAll(/\n\s*/g, ' ')
  return `Write for example "${String(field)}": ${example}.`
}

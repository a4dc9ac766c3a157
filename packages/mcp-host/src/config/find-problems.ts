import type * as z from 'zod'

import { ownValue } from '../json/own-value.ts'

/** Something that a schema does not allow. */
export interface Problem {
  /** The path from the checked value. */
  readonly path: readonly PropertyKey[]
  /** The last step itself is at fault, and not the value under it. */
  readonly isAboutKey: boolean
  readonly message: string
}

/** All that `schema` finds wrong with a value. Nothing of the value is in the messages: it may be secret. */
export function findProblems(schema: z.ZodType, value: unknown): readonly Problem[] {
  let result: z.ZodSafeParseResult<unknown>
  try {
    result = schema.safeParse(value)
  } catch {
    return [{ path: uncheckable(schema, value), isAboutKey: false, message: 'is not valid' }]
  }
  return (result.error?.issues ?? []).flatMap((issue) => toProblems(issue, value))
}

/** Zod compares the `length` of any value, and throws where that is an object. */
function uncheckable(schema: z.ZodType, value: unknown): readonly PropertyKey[] {
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
    // The alternative that the value has the form of says more than "none fits".
    const meant = issue.errors.find((nested) => nested.every((inner) => inner.path.length > 0))
    const inside = meant?.map((inner) => ({ ...inner, path: [...path, ...inner.path] }))
    if (inside !== undefined) return inside.flatMap((inner) => toProblems(inner, value))
  }
  const isMissing = issue.code !== 'custom' && valueAt(value, path) === undefined
  return [{ path, isAboutKey: false, message: isMissing ? 'is missing' : message }]
}

function valueAt(value: unknown, [step, ...rest]: readonly PropertyKey[]): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return value
  return valueAt(Reflect.get(value, step), rest)
}

/** A remedy by the example in the field's description. */
export function exampleOf(schema: z.ZodObject, field: PropertyKey | undefined): string | undefined {
  const examples = ownValue(schema.shape, String(field))?.meta()?.['examples']
  if (!Array.isArray(examples) || examples.length === 0) return undefined
  const example = JSON.stringify(examples[0], undefined, 1).replaceAll(/\n\s*/g, ' ')
  return `Write for example "${String(field)}": ${example}.`
}

import { coerceScalar } from '../json/coerce-scalar.ts'
import { valueAt } from '../json/json-path.ts'
import type { SchemaError } from './schema-checker.ts'

type Arguments = Readonly<Record<string, unknown>>

/**
 * A copy of the arguments in which scalars of a wrong type are what they mean, as 1 for `"1"`; undefined when none of
 * them means anything.
 */
export function coerceArguments(
  args: Arguments,
  errors: readonly SchemaError[],
): Arguments | undefined {
  let copy: Arguments | undefined
  for (const { keyword, instancePath, params } of errors) {
    const path = instancePath.split('/').slice(1).map(unescaped)
    const key = path.pop()
    if (keyword !== 'type' || key === undefined) continue
    const types: unknown[] = [params['type']].flat()
    const value = valueAt(args, [...path, key])
    const coerced = types
      .map((type) => coerceScalar(value, type))
      .find((each) => each !== undefined)
    if (coerced === undefined) continue
    copy ??= copyOf(args)
    if (copy === undefined) return undefined
    const parent = valueAt(copy, path) as Record<string, unknown>
    // Another alternative of the schema may have asked for another type before.
    if (parent[key] === value) parent[key] = coerced
  }
  return copy
}

function copyOf(args: Arguments): Arguments | undefined {
  try {
    return structuredClone(args)
  } catch {
    // A function or the like stands in them: they are refused as they are.
    return undefined
  }
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

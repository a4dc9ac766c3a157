import { coerceScalar, pointerPath, valueAt } from '@mcp-host/json'
import type { SchemaError } from './schema-checker.ts'

type Arguments = Readonly<Record<string, unknown>>

/** A copy of the arguments with scalars of a wrong type coerced, as `"1"` to 1; undefined when none can be. */
export function coerceArguments(
  args: Arguments,
  errors: readonly SchemaError[],
): Arguments | undefined {
  let copy: Arguments | undefined
  for (const { keyword, instancePath, params } of errors) {
    const path = pointerPath(instancePath)
    const key = path.at(-1)
    if (keyword !== 'type' || key === undefined) continue
    const types: unknown[] = [params['type']].flat()
    const value = valueAt(args, path)
    const coerced = types
      .map((type) => coerceScalar(value, type))
      .find((each) => each !== undefined)
    if (coerced === undefined) continue
    copy ??= copyOf(args)
    if (copy === undefined) return undefined
    const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>
    // Another alternative of the schema may have coerced the value to another type.
    if (parent[key] === value) parent[key] = coerced
  }
  return copy
}

function copyOf(args: Arguments): Arguments | undefined {
  try {
    return structuredClone(args)
  } catch {
    // The arguments contain a function or the like, and are refused.
    return undefined
  }
}

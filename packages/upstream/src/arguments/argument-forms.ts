import { coerceScalar, isObject } from '@mcp-host/json'
import { AppliedSchemas, SCALARS, type Schema, TooManySteps, UNKNOWN } from './applied-schemas.ts'

/** Two orders, since a number may become a boolean or a string where several types are declared. */
const ORDERS = [SCALARS, SCALARS.toReversed()]

/**
 * The forms in which the argument at `path` may reach its server: as it is written, and as lenient validation may
 * coerce it. Empty when there is no such argument; undefined when they are too many to be found. Only declared types are
 * read and no conditions, so that there may be forms that validation never makes, but none is missing. `schema`: absent
 * when it is not known.
 */
export function argumentForms(
  args: unknown,
  path: readonly string[],
  schema: unknown = UNKNOWN,
): readonly unknown[] | undefined {
  try {
    return formsOf(args, path, schema)
  } catch (error) {
    if (error instanceof TooManySteps) return undefined
    throw error
  }
}

function formsOf(args: unknown, path: readonly string[], schema: unknown): readonly unknown[] {
  const applied = new AppliedSchemas(schema)
  let value = args
  let schemas = applied.applied([schema])
  for (const name of path) {
    if (!isContainer(value) || !Object.hasOwn(value, name)) return []
    schemas = partOf(applied, schemas, value, name)
    value = Reflect.get(value, name)
  }
  const forms = ORDERS.map((order) => coerced(applied, value, schemas, order))
  return [...new Set([value, ...forms])]
}

function coerced(
  applied: AppliedSchemas,
  value: unknown,
  schemas: readonly Schema[],
  order: readonly string[],
): unknown {
  if (schemas.length === 0) return value
  applied.count(1)
  if (Array.isArray(value)) {
    const items = applied.ofItems(schemas)
    return value.map((item) => coerced(applied, item, items, order))
  }
  if (isObject(value)) {
    const entries = Object.entries(value).map(([name, part]) => {
      // Names take longer to copy than other values.
      applied.count(2)
      return [name, coerced(applied, part, applied.ofProperty(schemas, name), order)]
    })
    return Object.fromEntries(entries)
  }
  const wanted = applied.wantedTypes(schemas, value)
  return (
    order
      .filter((type) => wanted.includes(type))
      .map((type) => coerceScalar(value, type))
      .find((each) => each !== undefined) ?? value
  )
}

function partOf(
  applied: AppliedSchemas,
  schemas: readonly Schema[],
  value: object,
  name: string,
): readonly Schema[] {
  return Array.isArray(value) ? applied.ofItems(schemas) : applied.ofProperty(schemas, name)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

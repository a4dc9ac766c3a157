import { resolveReference } from './resolve-reference.ts'

/** Keywords that providers refuse or ignore, or that resolved references make superfluous. */
const DROPPED = new Set(['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'])
/** Keywords that are removed from the root, which providers require to be a plain object. */
const AT_ROOT = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'])
/** Keywords whose keys are property names, never keywords. */
const NAMED = new Set(['properties', 'patternProperties'])
/** Keywords whose values are data, not schemas. */
const VALUES = new Set(['default', 'const', 'enum', 'examples'])
/** Limit for the depth of references within references, which the recursion follows. */
const MAX_OPEN_REFERENCES = 200
/** Limit for the nodes of a schema with resolved references. Larger schemas are of no use to a model. */
const MAX_NODES = 5_000

type Schema = Readonly<Record<string, unknown>>

/** Converts the schema of a tool's arguments for all providers: to an object without references. */
export function portableSchema(schema: Schema): Record<string, unknown> {
  const { type = 'object' } = schema
  if (type !== 'object') throw new Error('its arguments are no object')
  let nodes = 0

  const copy = (value: unknown, open: readonly string[]): unknown => {
    if (++nodes > MAX_NODES) throw new Error('the schema of its arguments is too large')
    if (Array.isArray(value)) return value.map((each) => copy(each, open))
    if (!isSchema(value)) return value
    const { $ref, ...others } = value
    if (typeof $ref !== 'string') return copyFields(value, open)
    if (open.includes($ref)) return {}
    if (open.length >= MAX_OPEN_REFERENCES) {
      throw new Error(
        `the schema of its arguments has more than ${MAX_OPEN_REFERENCES} references in a row`,
      )
    }
    const inner = [...open, $ref]
    return { ...copyFields(resolve(schema, $ref), inner), ...copyFields(others, inner) }
  }
  const copyFields = (value: Schema, open: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !DROPPED.has(key))
        .map(([key, each]) => {
          if (VALUES.has(key)) return [key, each]
          return [key, NAMED.has(key) ? copyNamed(each, open) : copy(each, open)]
        }),
    )
  const copyNamed = (value: unknown, open: readonly string[]): unknown =>
    isSchema(value)
      ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each, open)]))
      : value

  return plain(copy({ type, ...schema }, []) as Schema)
}

/**
 * Merges the alternatives of the root into one object with the properties of all of them. Only properties that the root
 * requires stay required.
 */
function plain(root: Schema): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(root).filter(([key]) => !AT_ROOT.has(key)))
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => root[key] ?? []).filter(isSchema)
  const properties = [...parts, root].map((each) => each['properties']).filter(isSchema)
  return { ...rest, properties: Object.fromEntries(properties.flatMap(Object.entries)) }
}

function resolve(root: Schema, reference: string): Schema {
  const found = resolveReference(root, reference)
  if (isSchema(found)) return found
  throw new Error(`the schema of its arguments refers to "${reference}", which is not in it`)
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

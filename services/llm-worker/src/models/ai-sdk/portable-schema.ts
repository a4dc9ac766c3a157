import { ownValue } from '@mcp-host/contracts'

/** What providers refuse or do not know, and what is not needed once references are resolved. */
const DROPPED = new Set(['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'])
/** Providers want a plain object at the root. */
const AT_ROOT = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'])
/** What these have are names of properties, whatever they look like. */
const NAMED = new Set(['properties', 'patternProperties'])
/** What these have are no schemas. */
const VALUES = new Set(['default', 'const', 'enum', 'examples'])
/** A reference of a reference, and so on: copying goes as deep. */
const MAX_OPEN_REFERENCES = 200
/** Schemas whose references resolve to more are of no use to a model. */
const MAX_NODES = 5_000

type Schema = Readonly<Record<string, unknown>>

/** The log level of the session at its last request. */
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

/** A root without alternatives: it has the properties of all of them, and which are needed is said by no one. */
function plain(root: Schema): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(root).filter(([key]) => !AT_ROOT.has(key)))
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => root[key] ?? []).filter(isSchema)
  const properties = [...parts, root].map((each) => each['properties']).filter(isSchema)
  return { ...rest, properties: Object.assign({}, ...properties) as Schema }
}

function resolve(root: Schema, reference: string): Schema {
  const [empty, ...keys] = reference.split('/')
  let found: unknown = empty === '#' ? root : undefined
  for (const key of keys) {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
    const isInner = typeof found === 'object' && found !== null
    found = isInner ? ownValue(found as Schema, name) : undefined
  }
  if (isSchema(found)) return found
  throw new Error(`the schema of its arguments refers to "${reference}", which is not in it`)
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { isObject } from '@mcp-host/json'
type Schema = Readonly<Record<string, unknown>>

/** Keywords with one schema, or a list of schemas, for the same value or a part of it. */
const SCHEMAS: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'items',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
/** Keywords with schemas by name. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

/**
 * Removes formats and the ban of unknown properties, which servers seldom intend. `oneOf` may then match several
 * alternatives, since only that ban separates some. `not` and `if` stay unchanged: a weaker schema there would refuse
 * more.
 */
export function relaxSchema(schema: Schema): Schema {
  const keywords = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword === 'format' || (isPropertyBan(keyword) && value === false)) return []
    if (SCHEMAS.has(keyword)) return [[keyword, relaxed(value)]]
    if (SCHEMA_MAPS.has(keyword) && isObject(value)) return [[keyword, relaxedMap(value)]]
    return [[keyword, value]]
  })
  const { oneOf, ...rest } = Object.fromEntries(keywords)
  if (oneOf === undefined) return rest
  if (rest['anyOf'] === undefined) return { ...rest, anyOf: oneOf }
  const all = Array.isArray(rest['allOf']) ? rest['allOf'] : []
  return { ...rest, allOf: [...all, { anyOf: oneOf }] }
}

function isPropertyBan(keyword: string): boolean {
  return keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
}

function relaxed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relaxed)
  return isObject(value) ? relaxSchema(value) : value
}

function relaxedMap(schemas: Schema): object {
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, relaxed(each)]))
}

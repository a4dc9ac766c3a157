import { coerceScalar } from '../json/coerce-scalar.ts'
import { isObject } from '../json/is-object.ts'
import { pointerPath, valueAt } from '../json/json-path.ts'

type Schema = Readonly<Record<string, unknown>>

/** Two orders, since a number may become a boolean or a string where several types are declared. */
const SCALARS = ['boolean', 'number', 'integer', 'string']
const ORDERS = [SCALARS, SCALARS.toReversed()]

/** Stands for schemas that are not known: any scalar may be coerced to any type. */
const UNKNOWN: Schema = {
  anyOf: SCALARS.map((type) => ({ type })),
  get additionalProperties() {
    return UNKNOWN
  },
  get items() {
    return UNKNOWN
  },
}

const FOR_ITEMS = ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains']

/**
 * The forms in which the argument at `path` may reach its server: as it is written, and as lenient validation may
 * coerce it. Empty when there is no such argument. Only declared types are read and no conditions, so that there may be
 * forms that validation never makes, but none is missing. `schema`: absent when it is not known.
 */
export function argumentForms(
  args: unknown,
  path: readonly string[],
  schema: unknown = UNKNOWN,
): readonly unknown[] {
  let value = args
  let schemas = applied([schema], schema)
  for (const name of path) {
    if (!isContainer(value) || !Object.hasOwn(value, name)) return []
    schemas = applied(partSchemas(schemas, value, name), schema)
    value = Reflect.get(value, name)
  }
  const isSettled = !isContainer(value) && wantedTypes(value, schemas).length === 0
  return isSettled
    ? [value]
    : [value, ...ORDERS.map((order) => coerced(value, schemas, schema, order))]
}

function coerced(
  value: unknown,
  schemas: readonly Schema[],
  root: unknown,
  order: readonly string[],
): unknown {
  const partOf = (name: string) => applied(partSchemas(schemas, value, name), root)
  if (Array.isArray(value)) {
    const items = partOf('0')
    return value.map((item) => coerced(item, items, root, order))
  }
  if (isObject(value)) {
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([name, part]) => [name, coerced(part, partOf(name), root, order)]),
    )
  }
  const wanted = wantedTypes(value, schemas)
  return (
    order
      .filter((type) => wanted.includes(type))
      .map((type) => coerceScalar(value, type))
      .find((each) => each !== undefined) ?? value
  )
}

/** The types to which a scalar may be coerced. A schema refuses no value for its type that has one of its types. */
function wantedTypes(value: unknown, schemas: readonly Schema[]): readonly unknown[] {
  return schemas.flatMap(({ type = [] }) => {
    const types = Array.isArray(type) ? type : [type]
    return types.some((each) => isOfType(value, each)) ? [] : types
  })
}

/** The schemas with all that they apply to the same value. Each counts once, since schemas may refer to themselves. */
function applied(schemas: readonly unknown[], root: unknown): readonly Schema[] {
  const found = new Set(schemas.filter(isObject))
  // A set that grows while it is read.
  for (const schema of found) {
    for (const keyword of Object.keys(schema)) {
      for (const each of appliedBy(keyword, schema, root)) if (isObject(each)) found.add(each)
    }
  }
  return [...found]
}

/** The schemas that a keyword applies to the same value. */
function appliedBy(keyword: string, schema: Schema, root: unknown): readonly unknown[] {
  switch (keyword) {
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
    case 'if':
    case 'then':
    case 'else':
      return [schema[keyword]].flat()
    case 'dependencies':
    case 'dependentSchemas':
      return valuesOf(schema[keyword])
    case '$ref':
    case '$dynamicRef':
    case '$recursiveRef':
      return [resolve(schema[keyword], root)]
    default:
      return []
  }
}

function resolve(reference: unknown, root: unknown): unknown {
  const [, pointer] = /^#((?:\/.*)?)$/.exec(String(reference)) ?? []
  try {
    const found =
      pointer === undefined ? undefined : valueAt(root, pointerPath(decodeURIComponent(pointer)))
    return found ?? UNKNOWN
  } catch {
    // The reference is no URI, so it leads nowhere.
    return UNKNOWN
  }
}

function partSchemas(schemas: readonly Schema[], value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return schemas.flatMap((each) => FOR_ITEMS.flatMap((key) => each[key]))
  const found: unknown[] = []
  for (const schema of schemas) {
    const declared = valueAt(schema['properties'], [name])
    if (declared === undefined) found.push(schema['additionalProperties'])
    found.push(declared, schema['unevaluatedProperties'], ...valuesOf(schema['patternProperties']))
  }
  return found
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : []
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

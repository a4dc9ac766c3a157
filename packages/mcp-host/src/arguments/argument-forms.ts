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

/** Keywords with a schema, or a list of schemas, for the same value. */
const FOR_SAME = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else']
/** Keywords with schemas by name for the same value. */
const FOR_SAME_BY_NAME = ['dependencies', 'dependentSchemas']
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']
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
  return [value, ...ORDERS.map((order) => coerced(value, schemas, schema, order))]
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
  // A schema refuses no value for its type that has one of its types.
  const wanted = schemas
    .map(typesOf)
    .filter((types) => !types.some((type) => isOfType(value, type)))
    .flat()
  return (
    order
      .filter((type) => wanted.includes(type))
      .map((type) => coerceScalar(value, type))
      .find((each) => each !== undefined) ?? value
  )
}

/** The schemas with all that they apply to the same value. Each counts once, since schemas may refer to themselves. */
function applied(schemas: readonly unknown[], root: unknown): readonly Schema[] {
  const found = new Set<unknown>(schemas)
  // A set that grows while it is read.
  for (const schema of found) {
    if (!isObject(schema)) continue
    const others = [
      ...FOR_SAME.map((keyword) => [schema[keyword]].flat()),
      ...FOR_SAME_BY_NAME.map((keyword) => valuesOf(schema[keyword])),
      REFERENCES.filter((keyword) => Object.hasOwn(schema, keyword)).map((each) =>
        resolve(schema[each], root),
      ),
    ]
    for (const each of others.flat()) found.add(each)
  }
  return [...found].filter(isObject)
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
  return schemas.flatMap(({ properties, patternProperties, ...rest }) => {
    const declared = valueAt(properties, [name])
    const others = declared === undefined ? rest['additionalProperties'] : undefined
    return [declared, others, rest['unevaluatedProperties'], ...valuesOf(patternProperties)]
  })
}

function typesOf({ type }: Schema): unknown[] {
  return [type ?? []].flat()
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

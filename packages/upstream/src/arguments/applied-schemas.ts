import { isObject, pointerPath, valueAt } from '@mcp-host/json'

export type Schema = Readonly<Record<string, unknown>>

/** The types of scalars that are coerced. */
export const SCALARS = ['boolean', 'number', 'integer', 'string']

/** Stands for schemas that are not known: any scalar may be coerced to any type. */
export const UNKNOWN: Schema = {
  anyOf: SCALARS.map((type) => ({ type })),
  get additionalProperties() {
    return UNKNOWN
  },
  get items() {
    return UNKNOWN
  },
}

const FOR_ITEMS = ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains']
/** Limit for the values and schemas that are read. A step takes up to a microsecond. */
const MAX_STEPS = 300_000

/** The error for schemas and arguments that take more steps than the limit. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps'
}

/** What is known of the schemas of one value. */
interface Known {
  /** The names of properties with schemas of their own. */
  readonly declared: ReadonlySet<string>
  readonly parts: Map<string, readonly Schema[]>
  readonly wanted: Map<string, readonly string[]>
}

/**
 * Finds the schemas that apply to the values of an argument. The same parts of the same schemas are worked out once,
 * since a client chooses the number of values, and a server that of schemas.
 */
export class AppliedSchemas {
  readonly #root: unknown
  readonly #known = new Map<readonly Schema[], Known>()
  readonly #resolved = new Map<unknown, unknown>()
  #stepsLeft = MAX_STEPS

  constructor(root: unknown) {
    this.#root = root
  }

  /** Counts values or schemas that are read. Throws `TooManySteps`. */
  count(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw new TooManySteps('more steps than the limit')
  }

  /** The schemas with all that they apply to the same value. Each counts once, since schemas may refer to themselves. */
  applied(schemas: readonly unknown[]): readonly Schema[] {
    const found = new Set(schemas.filter(isObject))
    // A set that grows while it is read.
    for (const schema of found) {
      const keywords = Object.keys(schema)
      this.count(keywords.length + 1)
      for (const keyword of keywords) {
        const others = this.#appliedBy(keyword, schema)
        this.count(others.length)
        for (const each of others) if (isObject(each)) found.add(each)
      }
    }
    return [...found]
  }

  /** The schemas of the items of an array. */
  ofItems(schemas: readonly Schema[]): readonly Schema[] {
    return this.#part(schemas, 'items', () =>
      schemas.flatMap((each) => FOR_ITEMS.flatMap((key) => each[key])),
    )
  }

  /** The schemas of a property. */
  ofProperty(schemas: readonly Schema[], name: string): readonly Schema[] {
    // All names without a schema of their own have the same schemas.
    const isDeclared = this.#of(schemas).declared.has(name)
    return this.#part(schemas, isDeclared ? `.${name}` : 'others', () => {
      return schemas.flatMap((schema) => {
        const declared = isDeclared ? valueAt(schema['properties'], [name]) : undefined
        const additional = declared === undefined ? schema['additionalProperties'] : undefined
        const byPattern = valuesOf(schema['patternProperties'])
        return [declared, additional, schema['unevaluatedProperties'], ...byPattern]
      })
    })
  }

  /** The types to which a scalar may be coerced. A schema refuses no value for its type that has one of its types. */
  wantedTypes(schemas: readonly Schema[], value: unknown): readonly string[] {
    const { wanted } = this.#of(schemas)
    const kind = Number.isInteger(value) ? 'integer' : typeof value
    const known = wanted.get(kind)
    if (known !== undefined) return known
    const found = new Set<unknown>()
    for (const { type = [] } of schemas) {
      const types = Array.isArray(type) ? type : [type]
      this.count(types.length + 1)
      if (!types.some((each) => isOfType(value, each))) for (const each of types) found.add(each)
    }
    const scalars = SCALARS.filter((each) => found.has(each))
    wanted.set(kind, scalars)
    return scalars
  }

  #of(schemas: readonly Schema[]): Known {
    const known = this.#known.get(schemas)
    if (known !== undefined) return known
    const declared = new Set<string>()
    for (const { properties } of schemas) {
      const names = Object.keys(Object(properties))
      this.count(names.length + 1)
      for (const name of names) declared.add(name)
    }
    const made: Known = { declared, parts: new Map(), wanted: new Map() }
    this.#known.set(schemas, made)
    return made
  }

  #part(
    schemas: readonly Schema[],
    key: string,
    find: () => readonly unknown[],
  ): readonly Schema[] {
    const { parts } = this.#of(schemas)
    const known = parts.get(key)
    if (known !== undefined) return known
    this.count(schemas.length)
    const found = find()
    this.count(found.length)
    const part = this.applied(found)
    parts.set(key, part)
    return part
  }

  /** The schemas that a keyword applies to the same value. */
  #appliedBy(keyword: string, schema: Schema): readonly unknown[] {
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
        return [this.#resolve(schema[keyword])]
      default:
        return []
    }
  }

  #resolve(reference: unknown): unknown {
    const known = this.#resolved.get(reference)
    if (known !== undefined) return known
    const found = resolve(reference, this.#root)
    this.#resolved.set(reference, found)
    return found
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

function isOfType(value: unknown, type: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : []
}

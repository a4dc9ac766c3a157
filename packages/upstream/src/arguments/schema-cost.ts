import type { JsonSchema } from '../inventory/tool.ts'
import { hasMoreValues, isObject, valueAt } from '@mcp-host/json'
import { patternSize } from './pattern-size.ts'
import { CHARACTERS_PER_VALUE, type ValueSize } from './value-size.ts'

/** Compiling takes about 30 µs for each value of a schema; schemas of published tools mostly have less than 300. */
const MAX_VALUES_COMPILED_HERE = 1000
/** The limit for a check here. One unit, a keyword applied to a value, takes 10 to 200 ns. */
const MAX_UNITS_CHECKED_HERE = 250_000
/** The size of regular expressions that are compiled here: up to 30 ms. */
const MAX_PATTERN_SIZE_HERE = 2000
/** Larger ones take seconds to compile, and memory that has no limit. */
const MAX_PATTERN_SIZE = 65_536
/**
 * The limit for texts with formats: some regular expressions of ajv-formats take time with the square of the length. A
 * step, one character of a text times the longest length, takes up to 5 ns.
 */
const MAX_FORMAT_STEPS = 5_000_000
/** For values with more levels the work of large schemas takes long to determine. */
const MAX_DEPTH_OF_LARGE = 64
const LARGE_VALUES = 200
/** The depth of nested references and alternatives beyond which a schema counts as endless. */
const MAX_NESTED = 500

/** The work of a schema for one value and the values inside it; `pairs` are compared pairs of items. */
interface Work {
  readonly checks: number
  readonly pairs: number
}

type Json = Readonly<Record<string, unknown>>

const NONE: Work = { checks: 0, pairs: 0 }
const ONE: Work = { checks: 1, pairs: 0 }
const ENDLESS: Work = { checks: Infinity, pairs: Infinity }

/** Keywords whose schemas apply to the same value. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']
const SAME_VALUE_BY_NAME = ['dependencies', 'dependentSchemas']
/** Keywords whose schema applies to each value inside, in addition to those of other keywords. */
const EACH_INSIDE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]

/** Bounds the time of a check, without patterns, whose cost depends on each text (see `GuardedPattern`). */
export class SchemaCost {
  /** Why the schema must not be compiled, if so. */
  readonly excess: string | undefined
  /** Whether it may be compiled in the event loop. */
  readonly isSmall: boolean
  readonly #root: JsonSchema
  /** The work of the schema, by the levels of the checked value. */
  readonly #known: Work[] = []
  /** The work of each subschema, by levels, while that of the schema is being determined. */
  #parts = new Map<object, Work[]>()
  #nested = 0
  #hasFormat = false

  constructor(schema: JsonSchema) {
    this.#root = schema
    const size = patternSize(schema)
    this.isSmall = !hasMoreValues(schema, MAX_VALUES_COMPILED_HERE) && size <= MAX_PATTERN_SIZE_HERE
    this.excess =
      size > MAX_PATTERN_SIZE
        ? `its patterns have more than ${MAX_PATTERN_SIZE} characters`
        : undefined
  }

  /** Whether a value of this size may be checked in the event loop. */
  isCheap({ values, depth, longest }: ValueSize): boolean {
    if (!this.isSmall) return false
    if (depth > MAX_DEPTH_OF_LARGE && hasMoreValues(this.#root, LARGE_VALUES)) return false
    const { checks, pairs } = (this.#known[depth] ??= this.#measure(depth))
    const formatSteps = this.#hasFormat ? values * CHARACTERS_PER_VALUE * longest : 0
    return (
      formatSteps <= MAX_FORMAT_STEPS &&
      checks * values + pairs * values * values <= MAX_UNITS_CHECKED_HERE
    )
  }

  #measure(depth: number): Work {
    const work = this.#work(this.#root, depth)
    this.#parts = new Map()
    return work
  }

  #work(schema: unknown, depth: number): Work {
    if (!isObject(schema)) return Array.isArray(schema) ? this.#sum(schema, depth) : ONE
    const known = this.#parts.get(schema) ?? []
    this.#parts.set(schema, known)
    const found = known[depth]
    if (found !== undefined) return found
    // The result where the schema refers to itself for the same value.
    known[depth] = ENDLESS
    this.#nested += 1
    const work = this.#nested > MAX_NESTED ? ENDLESS : this.#workOf(schema, depth)
    this.#nested -= 1
    known[depth] = work
    return work
  }

  #workOf(schema: Json, depth: number): Work {
    const isNested = schema !== this.#root && '$id' in schema
    // These references are not resolved here.
    if (isNested || '$dynamicRef' in schema || '$recursiveRef' in schema) return ENDLESS
    if ('format' in schema) this.#hasFormat = true
    const own = { checks: ownChecks(schema), pairs: comparesPairs(schema) ? 1 : 0 }
    const { $ref } = schema
    const parts = [
      larger(own, depth === 0 ? NONE : this.#workInside(schema, depth - 1)),
      $ref === undefined ? NONE : this.#work(this.#resolve($ref), depth),
      ...SAME_VALUE.map((keyword) => this.#optional(schema[keyword], depth)),
      ...SAME_VALUE_BY_NAME.map((keyword) => this.#sum(valuesOf(schema[keyword]), depth)),
    ]
    return parts.reduce(plus)
  }

  /** The largest work for one value inside; it can be only one of the properties, or one item of a tuple. */
  #workInside(schema: Json, depth: number): Work {
    const { properties, patternProperties, prefixItems, items } = schema
    const tuple = [prefixItems, items].find(Array.isArray) as readonly unknown[] | undefined
    const patterns = valuesOf(patternProperties)
    return [
      this.#largest(valuesOf(properties), depth),
      this.#largest(tuple ?? [], depth),
      this.#sum(patterns, depth),
      // Each name is matched with each pattern, and again for additional properties.
      { checks: 2 * patterns.length, pairs: 0 },
      Array.isArray(items) ? NONE : this.#optional(items, depth),
      ...EACH_INSIDE.map((keyword) => this.#optional(schema[keyword], depth)),
    ].reduce(plus)
  }

  #optional(schema: unknown, depth: number): Work {
    return schema === undefined ? NONE : this.#work(schema, depth)
  }

  #sum(schemas: readonly unknown[], depth: number): Work {
    return schemas.map((each) => this.#work(each, depth)).reduce(plus, NONE)
  }

  #largest(schemas: readonly unknown[], depth: number): Work {
    return schemas.map((each) => this.#work(each, depth)).reduce(larger, NONE)
  }

  /** The schema of a reference by path. Other references count as endless, since they may lead back. */
  #resolve(reference: unknown): unknown {
    const endless = { $recursiveRef: '#' }
    if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return endless
    // A missing schema is reported by the compiler.
    return valueAt(this.#root, reference.split('/').slice(1).map(decoded)) ?? true
  }
}

function ownChecks(schema: Json): number {
  let checks = 1
  for (const keyword of ['enum', 'required', 'const', 'properties', 'dependentRequired']) {
    const value = schema[keyword]
    if (typeof value === 'object' && value !== null) checks += Object.keys(value).length
  }
  return checks
}

/** ajv compares scalars by a hash, where the schema says that all items are scalars. */
function comparesPairs({ uniqueItems, items }: Json): boolean {
  if (uniqueItems !== true) return false
  const types = isObject(items) ? [items['type']].flat() : [undefined]
  return types.some((type) => type === undefined || type === 'object' || type === 'array')
}

function plus(left: Work, right: Work): Work {
  return { checks: left.checks + right.checks, pairs: left.pairs + right.pairs }
}

function larger(left: Work, right: Work): Work {
  return {
    checks: Math.max(left.checks, right.checks),
    pairs: Math.max(left.pairs, right.pairs),
  }
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    // The compiler cannot follow such a reference either.
    return step
  }
}

function valuesOf(value: unknown): readonly unknown[] {
  return isObject(value) ? Object.values(value) : []
}

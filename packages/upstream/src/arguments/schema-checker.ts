import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

import type { JsonSchema } from '../inventory/tool.ts'
import { CostlyPatternError, GuardedPattern, type PatternBudget } from './guarded-pattern.ts'

const OPTIONS: Options = {
  // Schemas of servers are seldom strict.
  strict: false,
  allErrors: true,
  // Otherwise ajv writes to the console about unknown formats.
  logger: false,
  // Two tools may have the same $id.
  addUsedSchema: false,
  // 19.99 is a multiple of 0.01, though not in binary fractions.
  multipleOfPrecision: 6,
  // A large definition is compiled once, and not at every reference to it.
  inlineRefs: 20,
  // Otherwise every object has an argument named "constructor" or "toString".
  ownProperties: true,
  // `metaSchema` does it.
  validateSchema: false,
}
/** Further errors are dropped, since their messages would fill memory. */
const MAX_ERRORS = 10_000

/** The used fields of an error of ajv. */
export interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string | undefined
}

export interface UnusableSchema {
  readonly kind: 'unusable-schema'
  readonly reason: string
}

export type Compiled = { readonly kind: 'check'; readonly check: ValidateFunction } | UnusableSchema

export type Faults =
  | { readonly kind: 'errors'; readonly errors: readonly SchemaError[] }
  | UnusableSchema

/**
 * Compiles JSON Schemas: as draft-07 when `$schema` names draft-04, -06 or -07, as 2019-09 when it names that, and
 * otherwise as 2020-12. A checker keeps all its compiled schemas.
 */
export class SchemaChecker {
  readonly #options: Options
  readonly #ajvs = new Map<Dialect, Ajv>()

  /** With a budget, a check throws `CostlyPatternError` when its patterns would take more steps. */
  constructor(budget?: PatternBudget) {
    this.#options = budget === undefined ? OPTIONS : withGuardedPatterns(budget)
  }

  compile({ $schema, ...schema }: JsonSchema): Compiled {
    try {
      // Without $schema, since ajv refuses unknown dialects; with an $id, since ajv does not find "#" without one
      // while `addUsedSchema` is false.
      const named = { $id: 'tool:/schema', ...schema }
      const dialect = dialectOf($schema)
      // A promise only for asynchronous schemas of schemas, which these are not.
      void metaSchema(dialect).validateSchema(named, true)
      const check = this.#ajv(dialect).compile(named)
      if (!('$async' in check)) return { kind: 'check', check }
      // Its check returns a promise, which would reject unhandled.
      return { kind: 'unusable-schema', reason: '"$async" is not supported' }
    } catch (error) {
      return { kind: 'unusable-schema', reason: reasonOf(error) }
    }
  }

  #ajv(dialect: Dialect): Ajv {
    const known = this.#ajvs.get(dialect) ?? newAjv(dialect, this.#options)
    this.#ajvs.set(dialect, known)
    return known
  }
}

type Dialect = '2020-12' | '2019-09' | 'draft-07'

function dialectOf(schema: unknown): Dialect {
  const uri = typeof schema === 'string' ? schema : ''
  const [, name] = /json-schema\.org\/(draft-0[467]|draft\/2019-09)\/schema/.exec(uri) ?? []
  if (name === undefined) return '2020-12'
  return name === 'draft/2019-09' ? '2019-09' : 'draft-07'
}

function newAjv(dialect: Dialect, options: Options): Ajv {
  if (dialect === '2020-12') return formats.default(new Ajv2020(options))
  return formats.default(dialect === '2019-09' ? new Ajv2019(options) : new Ajv(options))
}

const metaSchemas = new Map<Dialect, Ajv>()

/** Says whether schemas are valid. One for all checkers, since to compile its schema takes 50 ms. */
function metaSchema(dialect: Dialect): Ajv {
  const known = metaSchemas.get(dialect) ?? newAjv(dialect, OPTIONS)
  metaSchemas.set(dialect, known)
  return known
}

/** The faults of a value. Throws `CostlyPatternError`. */
export function faultsOf(check: ValidateFunction, value: unknown): Faults {
  try {
    if (check(value)) return { kind: 'errors', errors: [] }
    const errors = (check.errors ?? []).slice(0, MAX_ERRORS)
    // Otherwise the schema would hold them in memory.
    check.errors = null
    return { kind: 'errors', errors }
  } catch (error) {
    if (error instanceof CostlyPatternError) throw error
    // A schema that refers to itself endlessly, or a pattern that is too large.
    return { kind: 'unusable-schema', reason: reasonOf(error) }
  }
}

function withGuardedPatterns(budget: PatternBudget): Options {
  const guarded = (source: string, flags: string): GuardedPattern =>
    new GuardedPattern(source, flags, budget)
  // `code` matters only for generated files.
  return { ...OPTIONS, code: { regExp: Object.assign(guarded, { code: 'new RegExp' }) } }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

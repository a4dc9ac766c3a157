import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

import type { JsonSchema } from '../inventory/tool.ts'
import { DearPatternError, GuardedPattern, type PatternBudget } from './guarded-pattern.ts'

const OPTIONS: Options = {
  // Schemas of servers are seldom strict, and not the host's to correct.
  strict: false,
  allErrors: true,
  // Else it writes to the console about formats that it does not know.
  logger: false,
  // Two tools may have the same $id.
  addUsedSchema: false,
  // 19.99 is a multiple of 0.01, though not in binary fractions.
  multipleOfPrecision: 6,
  // A large definition is compiled once, and not at every reference to it.
  inlineRefs: 20,
}
/** More are not told: each has a text, and they would fill memory. */
const MAX_ERRORS = 10_000

/** One error of ajv, with what is used of it. */
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

/** A schema that can be applied, or why it cannot. */
export type Compiled = { readonly kind: 'check'; readonly check: ValidateFunction } | UnusableSchema

export type Faults =
  | { readonly kind: 'errors'; readonly errors: readonly SchemaError[] }
  | UnusableSchema

/**
 * Compiles JSON Schemas: as draft-07 where `$schema` names draft-04, -06 or -07, as 2019-09 where it names that, else
 * as 2020-12. Compiled schemas are kept as long as it lives.
 */
export class SchemaChecker {
  readonly #options: Options
  #draft07: Ajv | undefined
  #draft2019: Ajv | undefined
  #draft2020: Ajv | undefined

  /** With a budget, patterns that would take more steps make a check throw `DearPatternError`. */
  constructor(budget?: PatternBudget) {
    this.#options = budget === undefined ? OPTIONS : withGuardedPatterns(budget)
  }

  compile({ $schema, ...schema }: JsonSchema): Compiled {
    try {
      // Without $schema, or a dialect that is not known by its name would be refused; with an $id,
      // or "#" would not be found while used schemas are not kept.
      const check = this.#dialect($schema).compile({ $id: 'tool:/schema', ...schema })
      if (!('$async' in check)) return { kind: 'check', check }
      // Its verdict is a promise, which would reject unhandled.
      return { kind: 'unusable-schema', reason: '"$async" is not supported' }
    } catch (error) {
      return { kind: 'unusable-schema', reason: reasonOf(error) }
    }
  }

  #dialect(schema: unknown): Ajv {
    const uri = typeof schema === 'string' ? schema : ''
    const [, name] = /json-schema\.org\/(draft-0[467]|draft\/2019-09)\/schema/.exec(uri) ?? []
    const options = this.#options
    if (name === undefined) return (this.#draft2020 ??= formats.default(new Ajv2020(options)))
    if (name === 'draft/2019-09') return (this.#draft2019 ??= formats.default(new Ajv2019(options)))
    return (this.#draft07 ??= formats.default(new Ajv(options)))
  }
}

/** The faults of a value. Throws `DearPatternError`. */
export function faultsOf(check: ValidateFunction, value: unknown): Faults {
  try {
    if (check(value)) return { kind: 'errors', errors: [] }
    const errors = (check.errors ?? []).slice(0, MAX_ERRORS)
    // They would be kept for as long as the schema.
    check.errors = null
    return { kind: 'errors', errors }
  } catch (error) {
    if (error instanceof DearPatternError) throw error
    // A schema that refers to itself without end, or a pattern that is too large.
    return { kind: 'unusable-schema', reason: reasonOf(error) }
  }
}

function withGuardedPatterns(budget: PatternBudget): Options {
  const guarded = (source: string, flags: string): GuardedPattern =>
    new GuardedPattern(source, flags, budget)
  // The text is for code that is written to files, which is not done here.
  return { ...OPTIONS, code: { regExp: Object.assign(guarded, { code: 'new RegExp' }) } }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

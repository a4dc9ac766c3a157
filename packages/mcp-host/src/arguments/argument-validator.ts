import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

import type { ValidationMode } from '../config/mcp-config.ts'
import type { ArgumentIssue } from '../errors/validation-error.ts'
import type { JsonSchema, Tool } from '../inventory/tool.ts'
import { coerceArguments } from './coerce-arguments.ts'
import { describeIssue } from './describe-issue.ts'
import { findNul } from './find-nul.ts'
import { relaxSchema } from './relax-schema.ts'

const OPTIONS: Options = {
  // Servers' schemas are seldom strict, and not ours to correct.
  strict: false,
  allErrors: true,
  // Else it writes to the console about formats that it does not know.
  logger: false,
  // Two tools may have the same $id.
  addUsedSchema: false,
  // 19.99 is a multiple of 0.01, though not in binary fractions.
  multipleOfPrecision: 6,
}

type Arguments = Readonly<Record<string, unknown>>

/** What is wrong with a value: some of it, or the schema itself. */
type Refusal =
  | {
      readonly kind: 'invalid'
      readonly issues: readonly ArgumentIssue[]
      /** No honest mistake: somebody may be trying something. */
      readonly isSuspicious?: true
    }
  | UnusableSchema

/** `args` are those to be sent. */
export type ArgumentVerdict = { readonly kind: 'valid'; readonly args: Arguments } | Refusal

export type ResultVerdict = { readonly kind: 'valid' } | Refusal

interface UnusableSchema {
  readonly kind: 'unusable-schema'
  readonly reason: string
}

type Compiled = { readonly kind: 'check'; readonly check: ValidateFunction } | UnusableSchema

type Faults = { readonly kind: 'errors'; readonly errors: readonly ErrorObject[] } | UnusableSchema

/**
 * Checks arguments, and results, against the tools' JSON Schemas: as draft-07 where `$schema` says draft-04, -06 or
 * -07, as 2019-09 where it says that, else as 2020-12.
 * `lenient` takes what servers usually take: unknown properties, any format, and scalars in another form, which are
 * coerced. One per list of tools, so that no server's schemas can reach another's and old ones are let go.
 * A schema is compiled at the first call.
 */
export class ArgumentValidator {
  readonly mode: ValidationMode
  readonly #compiled = new WeakMap<JsonSchema, Compiled>()
  #draft07: Ajv | undefined
  #draft2019: Ajv | undefined
  #draft2020: Ajv | undefined

  constructor(mode: ValidationMode) {
    this.mode = mode
  }

  /** Never changes `args`. A NUL character is refused in every mode. */
  validate({ inputSchema }: Tool, args: Arguments): ArgumentVerdict {
    const nul = findNul(args)
    if (nul !== undefined) {
      const issue = { argument: nul, expected: 'must not contain a NUL character' }
      return { kind: 'invalid', issues: [issue], isSuspicious: true }
    }
    if (this.mode === 'off') return { kind: 'valid', args }
    const faults = this.#faultsOf(inputSchema, args)
    const refusal = refusalOf(faults)
    if (refusal === undefined) return { kind: 'valid', args }
    const isCoercible = this.mode === 'lenient' && faults.kind === 'errors'
    const coerced = isCoercible ? coerceArguments(args, faults.errors) : undefined
    if (coerced === undefined) return refusal
    return refusalOf(this.#faultsOf(inputSchema, coerced)) ?? { kind: 'valid', args: coerced }
  }

  /** Of a tool without an `outputSchema` every result is valid. */
  validateOutput({ outputSchema }: Tool, structuredContent: unknown): ResultVerdict {
    if (outputSchema === undefined || this.mode === 'off') return { kind: 'valid' }
    return refusalOf(this.#faultsOf(outputSchema, structuredContent)) ?? { kind: 'valid' }
  }

  #faultsOf(schema: JsonSchema, value: unknown): Faults {
    let compiled = this.#compiled.get(schema)
    if (compiled === undefined) {
      compiled = this.#compile(schema)
      this.#compiled.set(schema, compiled)
    }
    if (compiled.kind === 'unusable-schema') return compiled
    try {
      const errors = compiled.check(value) ? [] : (compiled.check.errors ?? [])
      return { kind: 'errors', errors }
    } catch (error) {
      // A schema that refers to itself without end, or a value too deep for one that may.
      return { kind: 'unusable-schema', reason: reasonOf(error) }
    }
  }

  #compile({ $schema, ...given }: JsonSchema): Compiled {
    const ajv = this.#dialect($schema)
    try {
      const schema = this.mode === 'strict' ? given : relaxSchema(given)
      // Without $schema, or a dialect that is not known by its name would be refused; with an $id,
      // or "#" would not be found while used schemas are not kept.
      const check = ajv.compile({ $id: 'tool:/schema', ...schema })
      if (!('$async' in check)) return { kind: 'check', check }
      // Its verdict is a promise, which rejects where nobody waits for it.
      return { kind: 'unusable-schema', reason: '"$async" is not supported' }
    } catch (error) {
      return { kind: 'unusable-schema', reason: reasonOf(error) }
    }
  }

  #dialect(schema: unknown): Ajv {
    const uri = typeof schema === 'string' ? schema : ''
    const [, name] = /json-schema\.org\/(draft-0[467]|draft\/2019-09)\/schema/.exec(uri) ?? []
    if (name === undefined) return (this.#draft2020 ??= formats.default(new Ajv2020(OPTIONS)))
    if (name === 'draft/2019-09') return (this.#draft2019 ??= formats.default(new Ajv2019(OPTIONS)))
    return (this.#draft07 ??= formats.default(new Ajv(OPTIONS)))
  }
}

function refusalOf(faults: Faults): Refusal | undefined {
  if (faults.kind === 'unusable-schema') return faults
  if (faults.errors.length === 0) return undefined
  return { kind: 'invalid', issues: faults.errors.map(describeIssue) }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

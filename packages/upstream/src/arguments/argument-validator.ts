import type { ValidationMode } from '../server-config.ts'
import type { ArgumentIssue } from '../errors/validation-error.ts'
import type { JsonSchema, Tool } from '../inventory/tool.ts'
import { MAX_JSON_DEPTH, TOO_DEEP } from '@mcp-host/json'
import { coerceArguments } from './coerce-arguments.ts'
import { describeIssue } from './describe-issue.ts'
import { findNul } from './find-nul.ts'
import { CostlyPatternError, PatternBudget } from './guarded-pattern.ts'
import { relaxSchema } from './relax-schema.ts'
import {
  type Compiled,
  type Faults,
  faultsOf,
  SchemaChecker,
  type UnusableSchema,
} from './schema-checker.ts'
import { SchemaCost } from './schema-cost.ts'
import { SchemaThreads, type Unchecked } from './schema-threads.ts'
import { sizeOf, type ValueSize } from './value-size.ts'

type Arguments = Readonly<Record<string, unknown>>

/** The reason to refuse a value: faults of the value, faults of the schema, or a check that would take too long. */
type Refusal =
  | {
      readonly kind: 'invalid'
      readonly issues: readonly ArgumentIssue[]
      /** Whether the value may be an attack. */
      readonly isSuspicious?: true
    }
  | UnusableSchema
  | { readonly kind: 'unchecked'; readonly reason: string }

/** The verdict about arguments. `args`: the arguments to send. */
export type ArgumentVerdict = { readonly kind: 'valid'; readonly args: Arguments } | Refusal

export type ResultVerdict = { readonly kind: 'valid' } | Refusal

/** A promise only when a thread does the check. */
type MaybePromise<Value> = Value | Promise<Value>

/** The number of issues that are described. */
const MAX_ISSUES = 100

/** Shared by all hosts of the process, which together have at most two threads. */
const sharedThreads = new SchemaThreads()

export interface ArgumentValidatorOptions {
  /** Threads do the checks of one owner one after another; default: this validator. */
  readonly owner?: object
  readonly threads?: SchemaThreads
}

/** A schema in the form for the mode. */
interface AppliedSchema {
  readonly schema: JsonSchema
  readonly cost: SchemaCost
  compiled?: Compiled
}

/**
 * Checks arguments and results against the tools' JSON Schemas. `lenient` accepts what servers usually accept: unknown
 * properties, any format, and scalars in another form, which are coerced. There is one validator per list of tools, so
 * that servers do not share schemas and old ones are freed. A schema is compiled at the first call. Threads make checks
 * that may take long.
 */
export class ArgumentValidator {
  readonly mode: ValidationMode
  readonly #owner: object
  readonly #threads: SchemaThreads
  readonly #applied = new WeakMap<JsonSchema, AppliedSchema>()
  readonly #budget = new PatternBudget()
  readonly #checker = new SchemaChecker(this.#budget)

  constructor(mode: ValidationMode, options: ArgumentValidatorOptions = {}) {
    this.mode = mode
    const { owner = this, threads = sharedThreads } = options
    this.#owner = owner
    this.#threads = threads
  }

  /**
   * Validates arguments and never changes them. A NUL character, and arguments nested too deep, are refused in every
   * mode.
   */
  validate({ inputSchema }: Tool, args: Arguments): MaybePromise<ArgumentVerdict> {
    const size = sizeOf(args)
    if (size.depth > MAX_JSON_DEPTH) {
      return { kind: 'invalid', issues: [{ argument: '', expected: `are ${TOO_DEEP}` }] }
    }
    if (size.hasNul) {
      const issue = { argument: findNul(args) ?? '', expected: 'must not contain a NUL character' }
      return { kind: 'invalid', issues: [issue], isSuspicious: true }
    }
    if (this.mode === 'off') return { kind: 'valid', args }
    const schema = this.#applicable(inputSchema)
    return then(this.#faultsOf(schema, args, size), (faults) => {
      const refusal = refusalOf(faults)
      if (refusal === undefined) return { kind: 'valid', args }
      const isCoercible = this.mode === 'lenient' && faults.kind === 'errors'
      const coerced = isCoercible ? coerceArguments(args, faults.errors) : undefined
      if (coerced === undefined) return refusal
      return then(this.#faultsOf(schema, coerced, size), (rest) => {
        return refusalOf(rest) ?? { kind: 'valid', args: coerced }
      })
    })
  }

  /** Validates a result. Without an `outputSchema` every result is valid. */
  validateOutput({ outputSchema }: Tool, structuredContent: unknown): MaybePromise<ResultVerdict> {
    if (outputSchema === undefined || this.mode === 'off') return { kind: 'valid' }
    const schema = this.#applicable(outputSchema)
    const faults = this.#faultsOf(schema, structuredContent, sizeOf(structuredContent))
    return then(faults, (found) => refusalOf(found) ?? { kind: 'valid' })
  }

  #faultsOf(
    applied: AppliedSchema,
    value: unknown,
    size: ValueSize,
  ): MaybePromise<Faults | Unchecked> {
    const { schema, cost, compiled } = applied
    if (compiled?.kind === 'unusable-schema') return compiled
    if (!cost.isCheap(size)) return this.#faultsByThread(applied, value)
    applied.compiled ??= this.#checker.compile(schema)
    if (applied.compiled.kind === 'unusable-schema') return applied.compiled
    this.#budget.renew()
    try {
      return faultsOf(applied.compiled.check, value)
    } catch (error) {
      if (error instanceof CostlyPatternError) return this.#faultsByThread(applied, value)
      throw error
    }
  }

  async #faultsByThread(applied: AppliedSchema, value: unknown): Promise<Faults | Unchecked> {
    const faults = await this.#threads.check(this.#owner, applied.schema, value)
    if (faults.kind !== 'unchecked' || faults.phase === 'checking') return faults
    const unusable: UnusableSchema = { kind: 'unusable-schema', reason: faults.reason }
    // The verdict is stored, so that later calls do not wait for the thread again.
    if (faults.phase === 'compiling') applied.compiled = unusable
    return unusable
  }

  #applicable(original: JsonSchema): AppliedSchema {
    const known = this.#applied.get(original)
    if (known !== undefined) return known
    const schema = this.mode === 'strict' ? original : relaxSchema(original)
    const cost = new SchemaCost(schema)
    const applied: AppliedSchema = { schema, cost }
    if (cost.excess !== undefined) {
      applied.compiled = { kind: 'unusable-schema', reason: cost.excess }
    }
    this.#applied.set(original, applied)
    return applied
  }
}

function refusalOf(faults: Faults | Unchecked): Refusal | undefined {
  if (faults.kind !== 'errors') return faults
  if (faults.errors.length === 0) return undefined
  return { kind: 'invalid', issues: faults.errors.slice(0, MAX_ISSUES).map(describeIssue) }
}

/** Continues synchronously where possible, since most calls must not wait for a turn of the event loop. */
function then<From, To>(
  value: MaybePromise<From>,
  next: (value: From) => MaybePromise<To>,
): MaybePromise<To> {
  return value instanceof Promise ? value.then(next) : next(value)
}

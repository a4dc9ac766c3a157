import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

import type { ArgumentIssue } from '../errors/validation-error.ts'
import type { Tool } from '../inventory/tool.ts'
import { describeIssue } from './describe-issue.ts'
import { findNul } from './find-nul.ts'

const OPTIONS: Options = {
  // Servers' schemas are seldom strict, and not ours to correct.
  strict: false,
  allErrors: true,
  // Else it writes to the console about formats that it does not know.
  logger: false,
  // Two tools may have the same $id.
  addUsedSchema: false,
}

/** What is wrong with a call's arguments: nothing, some of them, or the schema itself. */
export type Verdict =
  | { readonly kind: 'valid' }
  | {
      readonly kind: 'invalid'
      readonly issues: readonly ArgumentIssue[]
      /** No honest mistake: somebody may be trying something. */
      readonly isSuspicious?: true
    }
  | { readonly kind: 'unusable-schema'; readonly reason: string }

type JsonSchema = Tool['inputSchema']

type Compiled =
  | { readonly kind: 'check'; readonly check: ValidateFunction }
  | { readonly kind: 'unusable-schema'; readonly reason: string }

/**
 * Checks arguments, and results, against the tools' JSON Schemas: as draft-07 where `$schema` says draft-04, -06 or
 * -07, as 2019-09 where it says that, else as 2020-12.
 * One per list of tools, so that no server's schemas can reach another's and old ones are let go.
 * A schema is compiled at the first call.
 */
export class ArgumentValidator {
  readonly #compiled = new WeakMap<JsonSchema, Compiled>()
  #draft07: Ajv | undefined
  #draft2019: Ajv | undefined
  #draft2020: Ajv | undefined

  validate({ inputSchema }: Tool, args: Readonly<Record<string, unknown>>): Verdict {
    const nul = findNul(args)
    if (nul !== undefined) {
      const issue = { argument: nul, expected: 'must not contain a NUL character' }
      return { kind: 'invalid', issues: [issue], isSuspicious: true }
    }
    return this.#check(inputSchema, args)
  }

  /** Of a tool without an `outputSchema` every result is valid. */
  validateOutput({ outputSchema }: Tool, structuredContent: unknown): Verdict {
    return outputSchema === undefined
      ? { kind: 'valid' }
      : this.#check(outputSchema, structuredContent)
  }

  #check(schema: JsonSchema, value: unknown): Verdict {
    let compiled = this.#compiled.get(schema)
    if (compiled === undefined) {
      compiled = this.#compile(schema)
      this.#compiled.set(schema, compiled)
    }
    if (compiled.kind === 'unusable-schema') return compiled
    try {
      if (compiled.check(value)) return { kind: 'valid' }
    } catch (error) {
      // A schema that refers to itself without end, or a value too deep for one that may.
      return { kind: 'unusable-schema', reason: reasonOf(error) }
    }
    return { kind: 'invalid', issues: (compiled.check.errors ?? []).map(describeIssue) }
  }

  #compile({ $schema, ...schema }: JsonSchema): Compiled {
    const ajv = this.#dialect($schema)
    try {
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import { Ajv, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'

import type { ArgumentIssue } from '../errors/validation-error.ts'
import type { Tool } from '../server/tool.ts'
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
  | { readonly kind: 'invalid'; readonly issues: readonly ArgumentIssue[] }
  | { readonly kind: 'unusable-schema'; readonly reason: string }

type Compiled =
  | { readonly kind: 'check'; readonly check: ValidateFunction }
  | { readonly kind: 'unusable-schema'; readonly reason: string }

/**
 * Checks arguments against the tools' JSON Schemas: draft-07 where `$schema` says so, else 2020-12.
 * One per list of tools, so that no server's schemas can reach another's and old ones are let go.
 * A schema is compiled at the first call.
 */
export class ArgumentValidator {
  readonly #compiled = new WeakMap<Tool, Compiled>()
  #draft07: Ajv | undefined
  #draft2020: Ajv | undefined

  validate(tool: Tool, args: Readonly<Record<string, unknown>>): Verdict {
    const nul = findNul(args)
    if (nul !== undefined) {
      const issue = { argument: nul, expected: 'must not contain a NUL character' }
      return { kind: 'invalid', issues: [issue] }
    }
    let compiled = this.#compiled.get(tool)
    if (compiled === undefined) {
      compiled = this.#compile(tool)
      this.#compiled.set(tool, compiled)
    }
    if (compiled.kind === 'unusable-schema') return compiled
    if (compiled.check(args)) return { kind: 'valid' }
    return { kind: 'invalid', issues: (compiled.check.errors ?? []).map(describeIssue) }
  }

  #compile({ inputSchema }: Tool): Compiled {
    const ajv = this.#dialect(inputSchema['$schema'])
    try {
      return { kind: 'check', check: ajv.compile(inputSchema) }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { kind: 'unusable-schema', reason }
    }
  }

  #dialect(schema: unknown): Ajv {
    if (typeof schema === 'string' && /json-schema\.org\/draft-07\/schema/.test(schema)) {
      return (this.#draft07 ??= formats.default(new Ajv(OPTIONS)))
    }
    return (this.#draft2020 ??= formats.default(new Ajv2020(OPTIONS)))
  }
}

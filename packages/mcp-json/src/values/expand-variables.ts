import type { Environment } from '@mcp-host/process'
import { ownValue } from '@mcp-host/json'

export interface Expansion {
  readonly text: string
  /** The inserted values, by their names in the text. */
  readonly filled: ReadonlyMap<string, string>
  /** Names without a value and without a default. */
  readonly unset: readonly string[]
  /** References of an unknown kind, as written. */
  readonly unknown: readonly string[]
}

export interface Known {
  /** Values for `${NAME}` and `${env:NAME}`. */
  readonly variables: Environment
  /** Values of other references, such as `${workspaceFolder}` and `${input:token}`. */
  readonly references?: ReadonlyMap<string, string> | undefined
}

const REFERENCE = /\$\{([^}]*)\}?/g
const VARIABLE = /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^}]*))?\}$/

const INPUT = /^\$\{(input:.*)\}$/

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${NAME-default}`, `${env:NAME}` and known references. Values are not expanded
 * again. With `:-` the default also replaces an empty value, as in a shell.
 */
export function expandVariables(template: string, { variables, references }: Known): Expansion {
  const filled = new Map<string, string>()
  const unset: string[] = []
  const unknown: string[] = []
  const text = template.replaceAll(REFERENCE, (reference) => {
    const known = references?.get(reference)
    if (known !== undefined) {
      const [, input] = INPUT.exec(reference) ?? []
      if (input !== undefined) filled.set(input, known)
      return known
    }
    const [, name, sign, fallback] = VARIABLE.exec(reference) ?? []
    if (name === undefined) {
      unknown.push(reference)
      return reference
    }
    const value = ownValue(variables, name)
    if (value !== undefined) filled.set(name, value)
    if (fallback !== undefined) {
      return value === undefined || (value === '' && sign === ':-') ? fallback : value
    }
    if (value === undefined) unset.push(name)
    return value ?? ''
  })
  return { text, filled, unset, unknown }
}

import type { Environment } from '../environment.ts'

export interface Expansion {
  readonly text: string
  /** Names without a value and without a default. */
  readonly unset: readonly string[]
  /** What starts like a variable but is none, as written. */
  readonly unknown: readonly string[]
}

const REFERENCE = /\$\{([^}]*)\}?/g
const VARIABLE = /^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}$/

/**
 * Replaces `${NAME}`, `${NAME:-default}` and `${env:NAME}`, once: a value is never expanded again.
 * The default also stands in for an empty value, as in a shell.
 */
export function expandVariables(template: string, variables: Environment): Expansion {
  const unset: string[] = []
  const unknown: string[] = []
  const text = template.replaceAll(REFERENCE, (reference) => {
    const [, name, fallback] = VARIABLE.exec(reference) ?? []
    if (name === undefined) {
      unknown.push(reference)
      return reference
    }
    const value = variables[name]
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
    if (value === undefined) unset.push(name)
    return value ?? ''
  })
  return { text, unset, unknown }
}

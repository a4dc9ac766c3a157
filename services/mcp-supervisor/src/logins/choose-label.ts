import { DEFAULT_LABEL, ownValue } from '@mcp-host/contracts'
import { isObject } from '@mcp-host/json'
import type { AccountRule } from '@mcp-host/upstream'
import type { KnownLogin } from './login-vault.ts'

interface Choice {
  readonly rules: readonly AccountRule[]
  /** The logins that the user has at the server. */
  readonly logins: readonly KnownLogin[]
  /** What the caller says. */
  readonly wanted?: string | undefined
  /** The arguments of a tool call. */
  readonly arguments?: unknown
}

/**
 * The label of the login for a request: that of the first rule with the same arguments, else the one that the caller
 * wants, else the first that the user has made.
 */
export function chooseLabel({ rules, logins, wanted, arguments: given }: Choice): string {
  const rule = rules.find(({ when }) =>
    Object.entries(when).every(
      ([name, value]) => isObject(given) && ownValue(given, name) === value,
    ),
  )
  if (rule !== undefined) return rule.label
  if (wanted !== undefined) return wanted
  const [first] = logins.toSorted((one, other) => one.connectedAt - other.connectedAt)
  return first?.label ?? DEFAULT_LABEL
}

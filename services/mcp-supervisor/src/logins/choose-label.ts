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
 * wants, else the default one.
 */
export function chooseLabel({ rules, logins, wanted, arguments: given }: Choice): string {
  const rule = rules.find(({ when }) =>
    Object.entries(when).every(
      ([name, value]) => isObject(given) && ownValue(given, name) === value,
    ),
  )
  if (rule !== undefined) return rule.label
  if (wanted !== undefined) return wanted
  return defaultOf(logins)?.label ?? DEFAULT_LABEL
}

/** The login that is used where nothing chooses one: the one that the user has chosen last for this, else the first. */
export function defaultOf(logins: readonly KnownLogin[]): KnownLogin | undefined {
  const [chosen] = logins.toSorted(
    (one, other) =>
      (other.defaultSince ?? 0) - (one.defaultSince ?? 0) || one.connectedAt - other.connectedAt,
  )
  return chosen
}

import type { Rate } from '@mcp-host/limits'
import type { RateLimits } from './rate-limits.ts'

/** The rule of the policy that allowed a call, if one matched. */
export interface AllowedBy {
  readonly rule?: { readonly name?: string | undefined; readonly limit?: Rate | undefined }
  readonly index?: number
}

/**
 * Takes the permits of a tool call: one of its principal, and one of the rule that allowed it. Returns `undefined` when
 * no wait is needed. Throws, or rejects with, `exhausted`.
 */
export function takeToolCall(
  limits: RateLimits,
  rate: Rate | undefined,
  principal: string,
  { rule, index = 0 }: AllowedBy,
): Promise<void> | undefined {
  const taken = limits.take({ rate, what: 'tool calls' }, principal)
  const limit = rule?.limit
  if (limit === undefined) return taken
  const what = `calls of the rule ${rule?.name ?? index + 1}`
  const takeOfRule = (): Promise<void> | undefined => limits.take({ rate: limit, what }, principal)
  return taken === undefined ? takeOfRule() : taken.then(takeOfRule)
}

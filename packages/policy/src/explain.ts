import type { Decision, ItemUse } from './decide.ts'
import { decide, mismatchOf } from './decide.ts'
import type { Policy } from './policy-file.ts'

/** How one rule relates to the use of an item. */
export interface RuleVerdict {
  /** Its name, or its position in the file, as `rule 1`. */
  readonly rule: string
  readonly verdict: 'decides' | 'does not match' | 'comes too late'
  /** The part of the rule that does not match. */
  readonly mismatch?: string
}

/** The decision about the use of an item, with the reason of every rule. */
export function explain(
  policy: Policy,
  use: ItemUse,
): Decision & { readonly verdicts: readonly RuleVerdict[] } {
  const decision = decide(policy, use)
  const verdicts = policy.rules.map((rule, index): RuleVerdict => {
    const name = ruleName(rule.name, index)
    if (index === decision.index) return { rule: name, verdict: 'decides' }
    const mismatch = mismatchOf(rule, use)
    if (mismatch !== undefined) return { rule: name, verdict: 'does not match', mismatch }
    return { rule: name, verdict: 'comes too late' }
  })
  return { ...decision, verdicts }
}

/** A rule in words: its name, or its position in the file. */
export function ruleName(name: string | undefined, index: number): string {
  return name ?? `rule ${index + 1}`
}

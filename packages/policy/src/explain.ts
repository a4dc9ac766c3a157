import type { Decision, ItemUse } from './decide.ts'
import { describeRule } from './describe-rule.ts'
import { decide, mismatchOf, TOO_MANY_FORMS } from './decide.ts'
import type { Policy } from './policy-file.ts'

/** How one rule relates to the use of an item. */
export interface RuleVerdict {
  /** Its name, or its position in the file, as `rule 1`. */
  readonly rule: string
  /** What it says, on one line. */
  readonly text: string
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
    const named = { rule: ruleName(rule.name, index), text: describeRule(rule) }
    if (index === decision.index) return { ...named, verdict: 'decides' }
    const mismatch = mismatchOf(rule, use)
    if (mismatch !== undefined && mismatch !== TOO_MANY_FORMS)
      return { ...named, verdict: 'does not match', mismatch }
    return { ...named, verdict: 'comes too late' }
  })
  return { ...decision, verdicts }
}

/** A rule in words: its name, or its position in the file. */
export function ruleName(name: string | undefined, index: number): string {
  return name ?? `rule ${index + 1}`
}

import type { ApprovalRule } from '@mcp-host/contracts'
import type { Decision, ToolCall } from './decide.ts'
import { decide } from './decide.ts'
import type { Policy } from './policy-file.ts'

/** What calls of tools are judged by. */
export interface CallRules {
  readonly policy: Policy
  /** Whether a tool is blocked because its definition has changed. */
  readonly isQuarantined: (server: string, tool: string) => boolean
  /** The calls that need a user's approval although the policy allows them. */
  readonly needsApproval: ApprovalRule
}

/** Whether a call runs at once, needs a user's approval or is denied. A denial has its `reason`, in words for a user. */
export interface Verdict extends Decision {
  /** What decided in place of the policy. */
  readonly decidedBy?: 'quarantine' | 'tool-approval'
}

/**
 * Counts a call against the limits of its principal. Throws, or rejects with, `exhausted`. `undefined`: it is within them,
 * which is known without waiting.
 */
export type CallLimit<Principal> = (
  principal: Principal,
  verdict: Verdict,
) => Promise<void> | undefined

const QUARANTINED = 'its definition has changed, and no admin has accepted it'
const DENIED = 'the policy of this host does not allow it'

/** The verdict about a call of whatever entrance. Nothing is counted. Pure. */
export function judgeCall(
  { policy, isQuarantined, needsApproval }: CallRules,
  call: ToolCall,
): Verdict {
  const { server, tool, annotations } = call
  if (isQuarantined(server, tool)) {
    return { effect: 'deny', decidedBy: 'quarantine', reason: QUARANTINED }
  }
  const decision = decide(policy, call)
  const { effect, rule, reason = rule?.reason ?? DENIED } = decision
  if (effect === 'deny') return { ...decision, reason }
  const isAsked = effect === 'allow' && needsApproval(server, tool, annotations)
  return isAsked ? { ...decision, effect: 'approve', decidedBy: 'tool-approval' } : decision
}

/** The verdict about a call, which is counted against the limits unless it is denied. Not a promise without a wait. */
export function admitCall<Call extends ToolCall>(
  rules: CallRules,
  call: Call,
  limit?: CallLimit<Call['principal']>,
): Verdict | Promise<Verdict> {
  const verdict = judgeCall(rules, call)
  const counted = verdict.effect === 'deny' ? undefined : limit?.(call.principal, verdict)
  return counted === undefined ? verdict : counted.then(() => verdict)
}

import { traceId } from '@mcp-host/contracts'
import type { ClaimedTurn, TurnDeps } from '../turn/turn.ts'
import { argumentsOf } from './approval.ts'
import type { Step } from './decide.ts'

/**
 * Records a call that the policy or the user decided against, before it is settled: an orchestrator that takes the turn
 * over in between records it again, with the same id.
 */
export function recordDenial(
  { audit, policy }: Pick<TurnDeps, 'audit' | 'policy'>,
  { session, envelope }: Pick<ClaimedTurn, 'session' | 'envelope'>,
  { call: asked, message }: Extract<Step, { type: 'settle' }>,
): void {
  const { block } = asked
  const { id: call, server, tool } = block
  const { principal, roles, entrance } = envelope
  audit
    ?.record({
      action: 'request-refused',
      principal,
      roles,
      entrance,
      session,
      server,
      tool,
      call,
      arguments: argumentsOf(asked),
      outcome: 'denied',
      traceId: traceId(envelope),
      detail: { reason: policy.denialOf(envelope, block) ?? message },
    })
    // The call does not run, so it waits for no entry.
    ?.catch(() => undefined)
}

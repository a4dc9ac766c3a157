import type { GatewayLimits } from '../../limits/gateway-limits.ts'
import type { CheckSessionDeps } from '../../session/check-session.ts'
import type { StoreAnswerDeps } from '../../session/store-answer.ts'
import type { StoreMessageDeps } from '../../session/store-message.ts'

/** Dependencies of the chat routes. */
export interface ChatDeps
  extends StoreMessageDeps, StoreAnswerDeps, Pick<CheckSessionDeps, 'signSession'> {
  /** Aborts when streams end, so that their clients go to another gateway. */
  readonly draining: AbortSignal
  readonly limits: Pick<GatewayLimits, 'message' | 'socket'>
}

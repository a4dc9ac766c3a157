import type { Bus } from '@mcp-host/bus'
import type { Principal, SessionId } from '@mcp-host/contracts'
import { isAdmin } from '@mcp-host/contracts'
import type { GatewayAudit } from '../gateway-audit.ts'
import { ownerOf } from './check-session.ts'

export interface AuditForeignSessionDeps {
  readonly bus: Pick<Bus, 'directory' | 'sessions'>
  readonly audit: Pick<GatewayAudit, 'isOn' | 'foreignSessionUsed'>
}

/** Records that an admin uses the session of another principal. `route`: such as `GET /ws`. Nobody waits for it. */
export function auditForeignSession(
  { bus, audit }: AuditForeignSessionDeps,
  principal: Principal,
  session: SessionId,
  route: string,
): void {
  // Others get no session but their own.
  if (!audit.isOn || !isAdmin(principal)) return
  ownerOf(bus, session).then(
    (owner) => {
      if (owner === undefined || owner === principal.id) return
      audit.foreignSessionUsed(principal, { session, owner, route })
    },
    // Without the broker, the request fails as well.
    () => undefined,
  )
}

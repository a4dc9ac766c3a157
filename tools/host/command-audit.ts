import type { AuditAction, AuditRecord } from '@mcp-host/audit'
import { AuditWriter } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import { LOCAL } from '@mcp-host/contracts'

/** The audit log of an operator's command. */
export interface CommandAudit extends AsyncDisposable {
  /**
   * Called before the change. Rejects with `unavailable` when the entry cannot be stored. Does nothing when there is no
   * log.
   */
  record(
    action: AuditAction,
    detail?: Readonly<Record<string, unknown>>,
    about?: Pick<AuditRecord, 'server' | 'tool'>,
  ): Promise<void>
}

/** `command`: its name, as `npm run keys`. */
export async function openCommandAudit(bus: Bus, command: string): Promise<CommandAudit> {
  const hasLog = (await bus.audit.state()) !== undefined
  const nothing = (): void => undefined
  const writer = hasLog
    ? new AuditWriter(
        {
          store: bus.audit,
          onStored: nothing,
          onDropped: nothing,
          onFault: nothing,
          onCheckpoint: nothing,
        },
        { writer: bus.id, mode: 'required', arguments: { mode: 'none', redact: [] } },
      )
    : undefined
  return {
    async record(action, detail, about) {
      const { id: principal, roles } = LOCAL
      const by = { principal, roles, entrance: 'system' as const }
      await writer?.record({ action, ...by, ...about, detail: { command, ...detail } })
    },
    [Symbol.asyncDispose]: async () => writer?.[Symbol.asyncDispose](),
  }
}

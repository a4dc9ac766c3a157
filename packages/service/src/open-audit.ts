import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditLog } from '@mcp-host/audit'
import { AuditWriter } from '@mcp-host/audit'
import { Counter, Gauge } from 'prom-client'
import type { auditSettings } from './audit-settings.ts'
import { auditMode } from './audit-settings.ts'
import type { ServiceDeps } from './run-service.ts'
import type { Config } from './settings.ts'

const DAY_MS = 86_400_000

/** Opens the audit log of a service; `undefined` when the log is off. Close it before the bus. Throws `unavailable`. */
export async function openAudit(
  service: string,
  { bus, logger, metrics }: Pick<ServiceDeps, 'bus' | 'logger' | 'metrics'>,
  config: Config<typeof auditSettings>,
): Promise<(AuditLog & AsyncDisposable) | undefined> {
  const mode = auditMode(config)
  if (mode === 'off') return undefined
  const { auditArguments, auditRedact, auditRetentionDays, auditCheckpoints: folder } = config
  await bus.audit.open({ maxAgeMs: auditRetentionDays * DAY_MS })
  const registers = [metrics]
  const entries = new Counter({
    name: 'mcp_host_audit_entries_total',
    help: 'Entries stored in the audit log',
    registers,
  })
  const dropped = new Counter({
    name: 'mcp_host_audit_dropped_total',
    help: 'Entries that the audit log has lost because too many waited',
    registers,
  })
  const writer = new AuditWriter(
    {
      store: bus.audit,
      onStored: (count) => entries.inc(count),
      onDropped: () => dropped.inc(),
      onFault(err) {
        const fields = { component: 'audit', action: 'write' }
        if (err === undefined) logger.info(fields, 'the audit log is written again')
        else logger.warn({ ...fields, err }, 'the audit log cannot be written; entries wait')
      },
      // The checkpoint is also kept outside of the audit log, so that a removal of the last entries can be detected.
      onCheckpoint(end) {
        const fields = { component: 'audit', action: 'checkpoint' }
        logger.info({ ...fields, ...end }, 'entries signed off')
        if (folder === undefined) return
        const line = JSON.stringify({ time: new Date().toISOString(), writer: bus.id, ...end })
        try {
          // At once: the process may end.
          appendFileSync(join(folder, `${service}.jsonl`), `${line}\n`)
        } catch (err) {
          logger.warn({ ...fields, err }, 'AUDIT_CHECKPOINTS cannot be written')
        }
      },
    },
    { writer: bus.id, mode, arguments: { mode: auditArguments, redact: auditRedact } },
  )
  const lag: Gauge = new Gauge({
    name: 'mcp_host_audit_lag_seconds',
    help: 'Age of the oldest entry that is not stored in the audit log',
    registers,
    collect: () => lag.set(writer.lagMs / 1_000),
  })
  return writer
}

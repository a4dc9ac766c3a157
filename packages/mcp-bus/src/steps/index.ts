import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import type { CallStep } from './serve-call.ts'
import { audited } from './audited.ts'

interface CallStepsOptions {
  /** Absent when it is off. */
  readonly audit: AuditLog | undefined
  /** Details of all audit entries of the calls. */
  readonly detail?: AuditRecord['detail']
}

/** The steps of every tool call, the outermost first. */
export function callSteps({ audit, detail }: CallStepsOptions): CallStep[] {
  return audit === undefined ? [] : [audited(audit, detail)]
}

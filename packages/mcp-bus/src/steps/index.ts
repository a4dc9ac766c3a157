import type { AuditLog } from '@mcp-host/audit'
import type { CallStep } from './serve-call.ts'
import { audited } from './audited.ts'

/** The steps of every tool call, the outermost first. `audit`: absent when it is off. */
export function callSteps({ audit }: { readonly audit: AuditLog | undefined }): CallStep[] {
  return audit === undefined ? [] : [audited(audit)]
}

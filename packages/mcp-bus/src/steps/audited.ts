import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import { BusError, traceId } from '@mcp-host/contracts'
import { ServerUnavailableError, ValidationError } from '@mcp-host/upstream'
import { isObject } from '@mcp-host/json'
import { InputNeeded } from './follow-link.ts'
import type { CallStep, ServeCall, ServedCall } from './serve-call.ts'
import { truncate } from '../truncate.ts'

/** A call, with the fields of its audit entries. */
type AuditedCall = Omit<ServedCall<unknown>, 'send'>

/**
 * Writes an entry of the start and one of the end of a call. Throws `ServerUnavailableError`, and does not run the call,
 * when entries are required and the start cannot be stored. `known`: details of all entries.
 */
export function audited(audit: AuditLog, known?: AuditRecord['detail']): CallStep {
  return (next) => (call) => serveAudited(audit, known, call, next)
}

async function serveAudited<Result>(
  audit: AuditLog,
  known: AuditRecord['detail'],
  call: ServedCall<Result>,
  next: ServeCall,
): Promise<Result> {
  const about = { ...fieldsOf(call), detail: known }
  let outcome = 'error'
  let { detail } = about
  let begin = performance.now()
  const start = { ...about, action: 'tool-started', arguments: call.arguments } as const
  try {
    const stored = audit.record(start)
    if (stored !== undefined) {
      await stored.catch((cause: unknown) => {
        const message = 'the audit log cannot be written, so the call was not run; try again'
        throw new ServerUnavailableError(message, { server: call.server, cause })
      })
      begin = performance.now()
    }
    const result = await next(call)
    outcome = outcomeOf(result)
    return result
  } catch (error) {
    outcome = failureOf(error)
    const message = truncate(error instanceof Error ? error.message : String(error))
    detail = { ...known, error: message }
    throw error
  } finally {
    const durationMs = Math.round((performance.now() - begin) * 1_000) / 1_000
    // The call is over, and an entry that cannot be stored does not undo it. Such entries are counted.
    audit
      .record({ ...about, action: 'tool-finished', outcome, durationMs, detail, start })
      ?.catch(() => undefined)
  }
}

/** Records the user's decision whether a call may run. */
export function recordApproval(
  audit: AuditLog | undefined,
  call: AuditedCall,
  isAllowed: boolean,
): void {
  const outcome = isAllowed ? 'allowed' : 'refused'
  audit
    ?.record({
      ...fieldsOf(call),
      action: 'approval-answered',
      arguments: call.arguments,
      outcome,
    })
    ?.catch(() => undefined)
}

type Fields = Pick<
  AuditRecord,
  'principal' | 'roles' | 'entrance' | 'traceId' | 'session' | 'server' | 'tool' | 'call'
>

function fieldsOf({ envelope, session, server, tool, call }: AuditedCall): Fields {
  const { principal, roles, entrance } = envelope
  return { principal, roles, entrance, traceId: traceId(envelope), session, server, tool, call }
}

function outcomeOf(result: unknown): string {
  if (!isObject(result)) return 'ok'
  if (result['resultType'] === 'input_required') return 'input-required'
  return result['isError'] === true ? 'error' : 'ok'
}

function failureOf(error: unknown): string {
  if (error instanceof InputNeeded) return 'input-required'
  if (error instanceof ValidationError) return 'refused'
  if (error instanceof ServerUnavailableError) return error.isOutcomeUnknown ? 'unknown' : 'not-run'
  return BusError.from(error).code === 'cancelled' ? 'cancelled' : 'error'
}

import type { AuditEntry, AuditVerification } from '@mcp-host/client'
import { countOf } from '@mcp-host/client'

/** How long an entry's action took, as `4.1 s`. */
export function tookText({ durationMs }: Pick<AuditEntry, 'durationMs'>): string {
  if (durationMs === undefined) return '–'
  return durationMs < 1_000
    ? `${Math.round(durationMs)} ms`
    : `${(durationMs / 1_000).toFixed(1)} s`
}

/** What a verification found, as a sentence. */
export function verificationText(found: AuditVerification): string {
  const { entries, writers, faultCount, isComplete } = found
  const read = `${countOf(entries, 'entry', 'entries')} of ${countOf(writers, 'writer')}`
  const faults = faultCount === 0 ? 'No fault' : countOf(faultCount, 'fault')
  const place = isComplete
    ? `in ${read}, first to last`
    : `in the first ${read}; npm run audit -- verify reads the others, too`
  return `${faults} ${place}.`
}

/** Entries as lines of JSON. */
export function jsonLines(entries: readonly AuditEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

import type { AuditEntry } from '@mcp-host/audit'
import { ChainVerifier, parseEntry } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type { JournalEntry } from '@mcp-host/testkit'
import { idArgument } from './observed-turn.ts'
import type { Violation } from './violation.ts'

/** The entries of each writer as they are stored, in their order. */
export type StoredAudit = readonly {
  readonly writer: string
  readonly entries: readonly string[]
}[]

export async function readAudit({ audit }: Pick<Bus, 'audit'>): Promise<StoredAudit> {
  return Array.fromAsync(audit.read({}))
}

/**
 * Checks that every run of a tool has the entry of its start, every entry of a success its run, and that no chain is
 * broken. Chains of killed processes end without a checkpoint.
 */
export function checkAudit(audit: StoredAudit, journal: readonly JournalEntry[]): Violation[] {
  const violations: Violation[] = []
  const verifier = new ChainVerifier({
    onFault({ kind, writer, seq }) {
      if (kind !== 'unfinished') {
        violations.push({ rule: 'audit chain', where: `${writer} ${seq}`, detail: kind })
      }
    },
    isBeginOptional: false,
    now: Date.now(),
  })
  const started = new Map<string, number>()
  const calls = new Map<string, string>()
  const succeeded = new Set<string>()
  for (const { writer, entries } of audit) {
    for (const stored of entries) {
      verifier.take(writer, stored)
      const entry = parseEntry(stored)
      if (entry?.action === 'tool-started') {
        const id = idArgument(entry.arguments)
        calls.set(entry.call ?? '', id)
        started.set(id, (started.get(id) ?? 0) + 1)
      } else if (isSuccess(entry)) succeeded.add(entry.call ?? '')
    }
  }
  verifier.end()
  const runs = Map.groupBy(journal, ({ arguments: given }) => idArgument(given))
  for (const [id, ran] of runs) {
    const count = started.get(id) ?? 0
    if (count >= ran.length) continue
    const detail = `it ran ${ran.length} times and has ${count} entries`
    violations.push({ rule: 'audit entry', where: id, detail })
  }
  for (const call of succeeded) {
    const id = calls.get(call) ?? ''
    if (runs.has(id)) continue
    violations.push({ rule: 'audit entry', where: id, detail: 'it succeeded, but never ran' })
  }
  return violations
}

function isSuccess(entry: AuditEntry | undefined): entry is AuditEntry {
  return entry?.action === 'tool-finished' && entry.outcome === 'ok'
}

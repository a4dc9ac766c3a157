import type { JournalEntry } from '@mcp-host/testkit'
import type { ObservedCall } from './observed-turn.ts'
import { idArgument } from './observed-turn.ts'
import type { Violation } from './violation.ts'

/** Checks the calls that reached the MCP servers against their outcomes in the sessions. */
export function checkJournal(
  journal: readonly JournalEntry[],
  calls: readonly ObservedCall[],
): Violation[] {
  const runs = new Map<string, number>()
  for (const { arguments: given } of journal) {
    const id = idArgument(given)
    runs.set(id, (runs.get(id) ?? 0) + 1)
  }
  return calls.flatMap(({ id, tool, outcome = 'none' }) => {
    const count = runs.get(id) ?? 0
    const where = `${tool} ${id}`
    if (tool === 'mark' && count > 1) {
      return [{ rule: 'tool run twice', where, detail: `it ran ${count} times` }]
    }
    if (outcome === 'ok' && count === 0) {
      return [{ rule: 'tool not run', where, detail: 'its result is ok, but it never ran' }]
    }
    if (outcome === 'refused' && count > 0) {
      return [{ rule: 'tool run', where, detail: 'it was refused, but it ran' }]
    }
    return []
  })
}

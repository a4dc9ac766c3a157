import type { JournalEntry } from '@mcp-host/testkit'
import type { CallStory } from './turn-story.ts'
import { idArgument } from './turn-story.ts'
import type { Violation } from './violation.ts'

/** Holds the calls that reached the MCP servers against what sessions were told of them. */
export function checkJournal(
  journal: readonly JournalEntry[],
  calls: readonly CallStory[],
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
      return [{ rule: 'tool not run', where, detail: 'its result is ok, and it never ran' }]
    }
    if (outcome === 'refused' && count > 0) {
      return [{ rule: 'tool run', where, detail: 'it was refused, and it ran' }]
    }
    return []
  })
}

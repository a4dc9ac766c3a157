import { AuditWriter } from '@mcp-host/audit'
import { expect, test } from 'vitest'
import type { StoredAudit } from './check-audit.ts'
import { checkAudit } from './check-audit.ts'

/** The log of a writer that has recorded calls by their journal ids: their starts, and successes of some. */
async function audit(started: readonly string[], succeeded = started): Promise<StoredAudit> {
  const stored: { writer: string; entries: string[] }[] = []
  const store = {
    append: async (writer: string, entries: readonly string[]) =>
      void stored.push({ writer, entries: [...entries] }),
  }
  const quiet = () => undefined
  const deps = { store, onStored: quiet, onDropped: quiet, onFault: quiet, onCheckpoint: quiet }
  const args = { mode: 'full', redact: [] } as const
  {
    await using writer = new AuditWriter(deps, { writer: 's1', mode: 'async', arguments: args })
    const about = { principal: 'user:ann', tool: 'mark' }
    for (const id of started) {
      void writer.record({ action: 'tool-started', ...about, call: id, arguments: { id } })
    }
    for (const id of succeeded) {
      void writer.record({ action: 'tool-finished', ...about, call: id, outcome: 'ok' })
    }
  }
  return stored
}

const journal = (...ids: string[]) => ids.map((id) => ({ tool: 'mark', arguments: { id }, pid: 1 }))
const rules = (log: StoredAudit, ...ids: string[]) =>
  checkAudit(log, journal(...ids)).map(({ rule }) => rule)

test('each run has the entry of its start, and each success its run', async () => {
  expect(rules(await audit(['a', 'b']), 'a', 'b')).toEqual([])
  expect(rules(await audit(['a']), 'a', 'b')).toEqual(['audit entry'])
  expect(rules(await audit(['a']), 'a', 'a')).toEqual(['audit entry'])
  expect(rules(await audit(['a', 'b']), 'a')).toEqual(['audit entry'])
})

test('a call whose process died before it ran has a start alone', async () => {
  expect(rules(await audit(['a', 'b'], ['a']), 'a')).toEqual([])
})

test('a broken chain is found', async () => {
  const [{ writer, entries } = { writer: '', entries: [] }] = await audit(['a', 'b', 'c'])
  const without = [{ writer, entries: entries.toSpliced(1, 1) }]
  expect(rules(without, 'a', 'c')).toContain('audit chain')
})

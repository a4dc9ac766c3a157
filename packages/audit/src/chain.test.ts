import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { argumentViewer } from './argument-view.ts'
import type { AuditRecord } from './audit-entry.ts'
import { AuditEntry } from './audit-entry.ts'
import { Chain } from './chain.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const view = argumentViewer({ mode: 'full', redact: [] })
const record: AuditRecord = {
  action: 'tool-started',
  principal: 'user:ann',
  roles: ['user'],
  entrance: 'mcp',
  server: 'files',
  tool: 'read',
  call: 'c1',
  arguments: { path: 'a "b"\n' },
}

test('an entry is one line of JSON with all that was recorded', () => {
  const text = new Chain('me', view).add(record, Date.UTC(2026, 0, 1))
  expect(text).not.toContain('\n')
  const { arguments: args, ...rest } = record
  expect(AuditEntry.parse(JSON.parse(text))).toEqual({
    seq: 1,
    prev: sha256('me'),
    time: '2026-01-01T00:00:00.000Z',
    ...rest,
    arguments: args,
    argumentsHash: sha256(JSON.stringify(args)),
  })
})

test.each([0, 7, 45, 678, 999, 1_000, 61_001])('an entry has its time: %i ms', (ms) => {
  const chain = new Chain('me', view)
  const time = Date.UTC(2026, 0, 1)
  chain.add(record, time)
  const { time: text } = JSON.parse(chain.add(record, time + ms)) as { readonly time: string }
  expect(text).toBe(new Date(time + ms).toISOString())
})

test('every entry has the hash of the one before', () => {
  const chain = new Chain('me', view)
  const [one, two] = [chain.add(record, 0), chain.add(record, 0, { dropped: 3 })]
  expect(JSON.parse(two)).toMatchObject({ seq: 2, prev: sha256(one), dropped: 3 })
  expect(chain.end).toEqual({ count: 2, hash: sha256(two) })
})

test('a checkpoint has the number and the hash of the entries before it', () => {
  const chain = new Chain('me', view)
  const one = chain.add(record, 0)
  const checkpoint = chain.add({ action: 'checkpoint', principal: 'system' }, 0)
  expect(JSON.parse(checkpoint)).toMatchObject({ detail: { count: 1, hash: sha256(one) } })
})

test('names that clients choose, and details, are limited in size', () => {
  const long = 'x'.repeat(20_000)
  const text = new Chain('me', view).add({ ...record, tool: long, detail: { error: long } }, 0)
  const { tool, detail } = AuditEntry.parse(JSON.parse(text))
  expect(tool).toHaveLength(512)
  expect(detail).toEqual({ omittedLength: 20_012 })
})

test('arguments that are nested too deeply for JSON leave the entry without them', () => {
  let args: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) args = [args]
  const text = new Chain('me', view).add({ ...record, arguments: args }, 0)
  expect(AuditEntry.parse(JSON.parse(text)).arguments).toBeUndefined()
})

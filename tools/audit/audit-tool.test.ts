import { expect, test } from 'vitest'
import { entryFilter } from '@mcp-host/audit'
import type { WrittenEntry } from './entry-lines.ts'
import { csvHead, csvLine, searchLine } from './entry-lines.ts'
import { parseTime } from './parse-time.ts'

const entry: WrittenEntry = {
  writer: 'mcp-supervisor-1',
  seq: 7,
  prev: 'abc',
  time: '2026-11-25T08:00:00.000Z',
  action: 'tool-started',
  principal: 'user:ann',
  server: 'files',
  tool: 'read_file',
}

test('a time is a date, a time of day or how long ago', () => {
  const now = Date.UTC(2026, 10, 25)
  expect(parseTime('2026-11-24', now)?.getTime()).toBe(now - 86_400_000)
  expect(parseTime('2026-11-24T12:00Z', now)?.getTime()).toBe(now - 43_200_000)
  expect(parseTime('90m', now)?.getTime()).toBe(now - 5_400_000)
  expect(parseTime('2d', now)?.getTime()).toBe(now - 172_800_000)
  for (const wrong of ['', 'yesterday', '5', '2026-13-45', '12w']) {
    expect(parseTime(wrong, now)).toBeUndefined()
  }
})

test('entries are found by patterns of their fields, and by time', () => {
  const at = (time: string) => new Date(time)
  const found = (filter: Parameters<typeof entryFilter>[0]) => entryFilter(filter)(entry)
  expect(found({})).toBe(true)
  expect(found({ principal: 'user:*', tool: 'read_*', server: 'files' })).toBe(true)
  expect(found({ principal: 'user:*', tool: 'write_*' })).toBe(false)
  expect(found({ server: 'f.les' })).toBe(false)
  expect(found({ since: at(entry.time), until: at(entry.time) })).toBe(true)
  expect(found({ since: at('2026-11-25T08:00:00.001Z') })).toBe(false)
  expect(found({ until: at('2026-11-25T07:59:59.999Z') })).toBe(false)
})

test('a cell of CSV keeps commas and quotes, and is no formula in a spreadsheet', () => {
  const line = csvLine({ ...entry, tool: '=HYPERLINK("x")', roles: ['a', 'b'] }, false)
  expect(line).toContain(`"'=HYPERLINK(""x"")"`)
  expect(line).toContain('"[""a"",""b""]"')
  expect(line.startsWith('2026-11-25T08:00:00.000Z,user:ann,')).toBe(true)
  expect(csvHead(true)).toMatch(/^time,principal,.*,prev,arguments$/)
  expect(csvLine({ ...entry, arguments: 'a' }, true)).toMatch(/,7,abc,a$/)
  expect(csvLine(entry, true)).toMatch(/,7,abc,$/)
})

test('a line for a person has no control characters', () => {
  expect(searchLine({ ...entry, tool: 'a\u001B[2Jb\nc' })).toBe(
    '2026-11-25T08:00:00.000Z  user:ann  tool-started  files.a [2Jb c',
  )
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeReport, describeResult, describeServers, isAsDirect } from './report.ts'
import type { FoundDifference, ServerResult } from './run-compat.ts'
import { SERVERS } from './servers.ts'

const difference: FoundDifference = {
  sdk: 'v2',
  mount: '/mcp/servers/one',
  path: ['tools', 'echo', 'title'],
  text: 'absent directly, "Echo" through /mcp',
  exception: undefined,
}
const listed = { ...difference, exception: { path: ['tools'], why: 'a good reason' } }

function result(changes: Partial<ServerResult> = {}): ServerResult {
  return { name: 'one', faults: [], differences: [], direct: { tools: { echo: {} } }, ...changes }
}

test('a server whose differences are all listed counts as equal', () => {
  expect(isAsDirect(result({ differences: [listed] }))).toBe(true)
  expect(isAsDirect(result({ differences: [listed, difference] }))).toBe(false)
  expect(isAsDirect(result({ faults: ['not ready'] }))).toBe(false)
})

test('the result of a server has a line for each difference that is not listed', () => {
  expect(describeResult(result({ faults: ['slow'], differences: [listed, difference] }))).toBe(
    'one: differs; 1 tools, 0 prompts, 0 resources; 1 listed differences\n' +
      '  slow\n' +
      '  v2 at its own mount, tools › echo › title: absent directly, "Echo" through /mcp',
  )
})

test('the report ends with the counts, after the reasons that applied', () => {
  const results = [result({ differences: [listed, listed] }), result({ faults: ['slow'] })]
  expect(describeReport(results)).toBe(
    '2 differences: a good reason\n2 servers: 1 as directly, 1 differ; 2 listed differences',
  )
})

test('docs/reference/compat.md has the servers as `npm run compat -- --list` prints them', async () => {
  const document = await readFile(join(import.meta.dirname, '../docs/reference/compat.md'), 'utf8')
  const rows = document.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
  const missing = describeServers(SERVERS).split('\n')
  expect(missing.filter((row) => !rows.includes(row.replaceAll(/ +/g, ' ')))).toEqual([])
})

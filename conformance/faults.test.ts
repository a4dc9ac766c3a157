import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { readFaults } from './faults.ts'

async function writeChecks(folder: string, name: string, checks: readonly object[]): Promise<void> {
  await mkdir(join(folder, name))
  await writeFile(join(folder, name, 'checks.json'), JSON.stringify(checks))
}

test('each fault of the scenario is reported once, in one line, without passed checks', async () => {
  await using folder = await testFolder()
  await writeChecks(folder.path, 'server-ping-2026-11-22T10-00-00-000Z', [
    { name: 'Ping', status: 'SUCCESS' },
    { name: 'Pong', status: 'FAILURE', errorMessage: 'no answer\nat all' },
    { name: 'Pong', status: 'FAILURE', errorMessage: 'no answer\nat all' },
    { name: 'Echo', status: 'SKIPPED' },
  ])
  await writeChecks(folder.path, 'server-ping-again-2026-11-22T10-00-00-000Z', [
    { name: 'Other', status: 'FAILURE' },
  ])
  expect(await readFaults(folder.path, 'ping')).toEqual(['Pong: no answer', 'Echo: skipped'])
})

test('only the first faults are listed, followed by the number of the others', async () => {
  await using folder = await testFolder()
  const checks = Array.from({ length: 9 }, (_, index) => ({
    name: `Check${index}`,
    status: 'FAILURE',
  }))
  await writeChecks(folder.path, 'server-ping-2026-11-22T10-00-00-000Z', checks)
  const faults = await readFaults(folder.path, 'ping')
  expect(faults).toHaveLength(5)
  expect(faults.at(-1)).toBe('… and 5 more')
})

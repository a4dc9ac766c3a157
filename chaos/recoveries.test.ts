import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { countRecoveries } from './recoveries.ts'

test('the recoveries in the logs of all services are counted by their owner', async () => {
  await using folder = await testFolder()
  await mkdir(join(folder.path, 'run'))
  const write = (name: string, ...owners: string[]): Promise<void> => {
    const lines = owners.map((recoveredBy) => JSON.stringify({ level: 30, recoveredBy }))
    return writeFile(join(folder.path, name), lines.join('\n'))
  }
  await write('run/gateway-0.log', 'placement', 'bus', 'placement')
  await write('run/mcp-supervisor-0.log.1', 'connection')
  await write('losses.jsonl', 'bus')
  expect(await countRecoveries(folder.path)).toEqual({ placement: 2, bus: 1, connection: 1 })
})

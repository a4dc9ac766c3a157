// The servers of `npm run compat` that the workspace has installed.
import { join } from 'node:path'
import { describeResult, isAsDirect, runCompat, SERVERS } from '@mcp-host/compat'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const installed = ['everything', 'filesystem', 'memory', 'playwright']
const folderOf = (name: string): string =>
  join(import.meta.dirname, '../packages/mcp-host/node_modules', name)

test('clients see the same of real servers through a gateway and directly', async () => {
  await using folder = await testFolder()
  const results = await runCompat({
    servers: SERVERS.filter(({ name }) => installed.includes(name)),
    locate: (server) => Promise.resolve(folderOf(server.package)),
    folder: folder.path,
  })
  expect(results.map(({ name }) => name).toSorted()).toEqual(installed)
  expect(results.filter((result) => !isAsDirect(result)).map(describeResult)).toEqual([])
})

// The shortest cell of `npm run conformance`: the findings of the suite must not depend on a gateway in between, except
// for those that conformance/exceptions.ts lists.
import type { Cell } from '@mcp-host/conformance'
import { judgeCell, nameOfCell, readExpected, runConformance } from '@mcp-host/conformance'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const cell: Cell = {
  requirements: '2026-07-28',
  target: { kind: 'gateway', transport: 'stdio', gateways: 1, era: 'modern' },
}

test(`${nameOfCell(cell)} has the findings of the server alone, except for the listed ones`, async () => {
  await using folder = await testFolder()
  const expected = await readExpected()
  const results = await runConformance({ cells: [cell], folder: folder.path, say: () => {} })
  const differences = await Promise.all(results.map((result) => judgeCell(result, expected)))
  expect(differences).toEqual([[]])
}, 300_000)

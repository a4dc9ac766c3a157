// Two cells of `npm run conformance`, one per era: the findings of the suite must not depend on a gateway in between,
// except for those that conformance/exceptions.ts lists.
import type { Cell } from '@mcp-host/conformance'
import { judgeCell, nameOfCell, readExpected, runConformance } from '@mcp-host/conformance'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const gateway = { kind: 'gateway', transport: 'stdio', gateways: 1 } as const
const cells: readonly Cell[] = [
  { requirements: '2025-11-25', target: { ...gateway, era: 'legacy' } },
  { requirements: '2026-07-28', target: { ...gateway, era: 'modern' } },
]

test.each(cells.map((cell) => [nameOfCell(cell), cell] as const))(
  '%s has the findings of the server alone, except for the listed ones',
  { timeout: 300_000 },
  async (_, cell) => {
    await using folder = await testFolder()
    const expected = await readExpected()
    const results = await runConformance({ cells: [cell], folder: folder.path, say: () => {} })
    const differences = await Promise.all(results.map((result) => judgeCell(result, expected)))
    expect(differences).toEqual([[]])
  },
)

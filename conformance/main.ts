// `npm run conformance`: runs the MCP conformance suite against gateways, and against a server without them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../tools/command-line.ts'
import { stopWithLauncher } from '../tools/lifeline.ts'
import { judgeCell } from './judge.ts'
import type { ConformanceOptions } from './options.ts'
import { parseOptions, USAGE } from './options.ts'
import { describeReport } from './report.ts'
import { runConformance } from './run-conformance.ts'
import { readExpected, writeExpected } from './totals.ts'
import { updateExpected } from './update-expected.ts'

async function run({ cells, isUpdate, isKept, command }: ConformanceOptions): Promise<number> {
  const say = (line: string): void => console.error(line)
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-conformance-'))
  say(`${cells.length} cells; logs and results in ${folder}`)
  const results = await runConformance({ cells, folder, say, command })
  let expected = await readExpected()
  if (isUpdate || command !== undefined) expected = updateExpected(expected, results)
  if (isUpdate) await writeExpected(expected)
  const judged = await Promise.all(
    results.map(async (result) => ({
      result,
      differences: await judgeCell(result, expected, command !== undefined),
    })),
  )
  console.log(`\n${describeReport(judged)}`)
  const isGood = judged.every(({ differences }) => differences.length === 0)
  if (isGood && !isKept) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  else say(`\nlogs and results are kept in ${folder}`)
  return isGood ? 0 : 1
}

stopWithLauncher()
await runCommand({ usage: USAGE, parse: parseOptions, run })

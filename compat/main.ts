// `npm run compat`: compares published MCP servers, directly and through a gateway.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../tools/command-line.ts'
import { stopWithLauncher } from '../tools/lifeline.ts'
import { installServer } from './install.ts'
import type { CompatOptions } from './options.ts'
import { parseOptions, USAGE } from './options.ts'
import { describeReport, describeResult, describeServers, isAsDirect } from './report.ts'
import { runCompat } from './run-compat.ts'

async function run({ servers, isList, isKept }: CompatOptions): Promise<number> {
  if (isList) {
    console.log(describeServers(servers))
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'mcp-host-compat-'))
  console.error(`${servers.length} servers; logs in ${folder}`)
  const results = await runCompat({
    servers,
    locate: installServer,
    folder,
    onResult: (result) => console.error(describeResult(result)),
  })
  console.log(`\n${describeReport(results)}`)
  const isGood = results.every(isAsDirect)
  if (isGood && !isKept) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  else console.error(`\nlogs are kept in ${folder}`)
  return isGood ? 0 : 1
}

stopWithLauncher()
await runCommand({ usage: USAGE, parse: parseOptions, run })

// `npm run chaos`: strikes the host's processes while sessions chat; ends with its figures as one line of JSON.
import { stopWithLauncher } from '../tools/lifeline.ts'
import { parseOptions, USAGE } from './options.ts'
import { describeReport } from './report.ts'
import { runChaos } from './run-chaos.ts'

stopWithLauncher()
const say = (line: string): void => console.error(line)
const parsed = parseOptions(process.argv.slice(2))
if ('problems' in parsed) {
  say(`${parsed.problems.join('\n')}\n\n${USAGE}`)
  process.exitCode = 2
} else if (parsed.isHelp) {
  console.log(USAGE)
} else {
  const report = await runChaos({ ...parsed.options, say })
  say(describeReport(report))
  console.log(JSON.stringify(report))
  process.exitCode = report.violations === 0 ? 0 : 1
}

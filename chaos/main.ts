// `npm run chaos`: injects faults into a host while sessions chat. Ends with its figures as one line of JSON.
import { runCommand } from '../tools/command-line.ts'
import { stopWithLauncher } from '../tools/lifeline.ts'
import { parseOptions, USAGE } from './options.ts'
import { describeReport } from './report.ts'
import { runChaos } from './run-chaos.ts'

stopWithLauncher()
await runCommand({
  usage: USAGE,
  parse: parseOptions,
  async run(options) {
    const say = (line: string): void => console.error(line)
    const report = await runChaos({ ...options, say })
    say(describeReport(report))
    console.log(JSON.stringify(report))
    return report.violations === 0 ? 0 : 1
  },
})

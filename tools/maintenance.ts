// `npm run maintenance`: announces maintenance of a host and takes it back.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { LOCAL, Maintenance, MAINTENANCE_KEY, maintenanceBucket } from '@mcp-host/contracts'
import { runCommand, UsageError } from './command-line.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'

const usage = `Usage: npm run maintenance -- begin "Back at 5 pm"   refuse new messages, with these words for users
       npm run maintenance -- end                    take messages again
       npm run maintenance -- status                 say whether it is announced

Answers that have begun go on, and so do tool calls at /mcp.

  --nats URL   broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL
`

interface Options {
  readonly command: 'begin' | 'end' | 'status'
  readonly notice: string
  readonly natsUrl: string | undefined
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, nats: { type: 'string' } },
  })
  if (values.help === true) return undefined
  const [command, ...words] = positionals
  if (command !== 'begin' && command !== 'end' && command !== 'status') {
    throw new UsageError(
      command === undefined ? 'a command is missing' : `there is no command "${command}"`,
    )
  }
  if (command !== 'begin' && words.length > 0) {
    throw new UsageError(`too many words: ${positionals.join(' ')}`)
  }
  const { data: notice, error } = Maintenance.shape.notice.safeParse(words.join(' '))
  if (notice === undefined) throw new UsageError(`begin: ${error?.issues[0]?.message}`)
  return { command, notice, natsUrl: values.nats }
}

async function run({ command, notice, natsUrl }: Options): Promise<number> {
  const root = join(import.meta.dirname, '..')
  const broker = findBroker(readEnv(process.env, root), root, natsUrl)
  await using bus = await connectQuietly(broker, 'maintenance')
  const bucket = await bus.bucket(maintenanceBucket)
  await using audit = await openCommandAudit(bus, 'npm run maintenance')
  const say = (line: string): void => void process.stdout.write(plain(`${line}\n`))
  if (command === 'begin') {
    await audit.record('maintenance-begun', { notice })
    await bucket.put(MAINTENANCE_KEY, { notice, since: bucket.now(), by: LOCAL.id })
    say(
      'Maintenance has begun: new messages are refused. npm run maintenance -- end takes it back.',
    )
  } else if (command === 'end') {
    await audit.record('maintenance-ended', {})
    await bucket.remove(MAINTENANCE_KEY)
    say('Maintenance has ended: messages are taken again.')
  } else {
    const { record } = (await bucket.get(MAINTENANCE_KEY)) ?? {}
    if (record === undefined) say('There is no maintenance.')
    else {
      const { notice: words, since, by } = record
      say(`Maintenance since ${new Date(since).toISOString()} by ${by}${words && `: ${words}`}`)
    }
  }
  return 0
}

stopWithLauncher()
await runCommand({ usage, parse, run })

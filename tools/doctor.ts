// `npm run doctor`: finds, backs up and repairs damaged data of nats-server.
import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countOf } from '@mcp-host/client'
import type { Bus, DamagedSession } from '@mcp-host/bus'
import { findDamage } from '@mcp-host/bus'
import { Guardian } from '@mcp-host/process'
import { CommandError, runCommand } from './command-line.ts'
import { busCredentials } from './host/bus-credentials.ts'
import type { BrokerAddress } from './host/connect-quietly.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { DataDirInUse, lockDataDir } from './host/data-lock.ts'
import { startNatsServer } from './host/nats-server.ts'
import type { Env } from './host/read-env.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'

const usage = `Usage: npm run doctor                      check the stored sessions, of a host that runs or is stopped
       npm run doctor -- --backup FOLDER   copy the data there first; the host must be stopped
       npm run doctor -- --repair          accept the loss; the host must be stopped

Compares the log of each session with its record. Lost sequence numbers are never reused: clients that saw them
are told to load their session again. The rest of a damaged session can be read and continued. --repair copies
the data to DATA_DIR/backup-<time>, unless --backup names a folder, and updates the records, so that the loss is
not reported again.

  --nats URL   broker to check; default: the one of the host on DATA_DIR, else NATS_URL

Exit code: 0 when nothing is damaged or all is repaired, 1 when something is damaged or cannot be checked, 2 for
wrong options.
`

interface Options {
  readonly isRepair: boolean
  /** The folder to copy the data to. */
  readonly backup: string | undefined
  readonly natsUrl: string | undefined
}

const print = (text: string): unknown => process.stdout.write(`${text}\n`)
const root = join(import.meta.dirname, '..')

function parse(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      backup: { type: 'string' },
      repair: { type: 'boolean' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  return { isRepair: values.repair === true, backup: values.backup, natsUrl: values.nats }
}

async function run({ isRepair, backup, natsUrl }: Options): Promise<number> {
  const env = readEnv(process.env, root)
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  await using stack = new AsyncDisposableStack()
  const lock = natsUrl === undefined ? await lockUnlessRunning(dataDir) : undefined
  if (lock !== undefined) stack.use(lock)
  if (isRepair || backup !== undefined) {
    if (lock === undefined || env['NATS_URL']) {
      throw new CommandError(
        'Only data of a host that is stopped can be copied or repaired, and only of its own nats-server. Stop it first.',
      )
    }
    const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
    const target = resolve(backup ?? join(dataDir, `backup-${time}`))
    const from = join(dataDir, 'nats')
    await cp(from, target, { recursive: true, errorOnExist: true, force: false })
    print(`copied ${from} to ${target}`)
  }
  const isStopped = natsUrl === undefined && lock !== undefined && !env['NATS_URL']
  const broker = isStopped ? await startBroker(env, dataDir, stack) : findBroker(env, root, natsUrl)
  const bus = stack.use(await connectQuietly(broker, 'doctor'))
  const damaged = await examine(bus)
  if (damaged.length === 0) return 0
  if (!isRepair) {
    print('What is left can be read. To accept the loss: stop the host, npm run doctor -- --repair')
    return 1
  }
  for (const { session, has } of damaged) {
    const found = await bus.directory.get(session)
    if (found === undefined) continue
    const { record, revision } = found
    await bus.directory.put({ ...record, entries: has }, { revision })
    await bus.snapshots.remove(session)
  }
  print(`repaired: ${countOf(damaged.length, 'record')}`)
  return 0
}

async function lockUnlessRunning(dataDir: string): Promise<AsyncDisposable | undefined> {
  try {
    return await lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof DataDirInUse) return undefined
    throw error
  }
}

/** Starts a broker on the data of a stopped host, which ends with the stack. */
async function startBroker(
  env: Env,
  dataDir: string,
  stack: AsyncDisposableStack,
): Promise<BrokerAddress> {
  const bin = env['NATS_SERVER_BIN']
  if (bin === undefined) throw new CommandError('nats-server was not found; set NATS_SERVER_BIN')
  const guardian = stack.use(new Guardian())
  const { accounts, credential } = await busCredentials(env, dataDir)
  const server = await startNatsServer(guardian, { bin, dataDir: join(dataDir, 'nats'), accounts })
  stack.defer(() => server.stop())
  return { url: server.url, credential }
}

/** Prints the damaged data. */
async function examine(bus: Bus): Promise<DamagedSession[]> {
  const { records } = await bus.directory.watch()
  const { lost, counts, isReliable } = await bus.sessions.counts()
  const damaged = await findDamage(bus, records.values())
  print(`known: ${countOf(records.size, 'session')}, with a log: ${counts.size}`)
  if (!isReliable) print('nats-server counts entries that it does not have: its files are damaged')
  for (const { after, through, at } of lost) {
    const when = new Date(at).toISOString()
    print(
      `lost: the end of the log from ${after + 1} on, noticed at ${when}; it continues after ${through}`,
    )
  }
  for (const { session, title, had, has } of damaged) {
    print(
      `damaged: session ${session} "${plain(title)}" has ${has} of ${countOf(had, 'entry', 'entries')}`,
    )
  }
  if (damaged.length === 0) print('no session misses entries')
  return damaged
}

stopWithLauncher()
await runCommand({ usage, parse, run })

// `npm run doctor`: finds, backs up and repairs damaged data of nats-server.
import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Bus, BusLogger, DamagedSession } from '@mcp-host/bus'
import { connectBus, findDamage } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { Guardian } from 'mcp-host/process'
import { DataDirInUse, lockDataDir } from './host/data-lock.ts'
import { startNatsServer } from './host/nats-server.ts'
import type { Env } from './host/read-env.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'

const USAGE = `Usage: npm run doctor                      check the stored sessions, of a host that runs or is stopped
       npm run doctor -- --backup FOLDER   copy the data there first; the host must be stopped
       npm run doctor -- --repair          accept what is lost; the host must be stopped

Compares the logs of the sessions with what is noted beside them. Lost sequences are never given out again:
clients that saw them are told to load their session again. What is left of a damaged session can be read and
goes on. --repair copies the data to DATA_DIR/backup-<time>, unless --backup names a folder, and takes what is
left as whole, so that it is not reported again.

  --nats URL   broker to check; default: the one of the host on DATA_DIR, else NATS_URL

Exit code: 0 when all is well or repaired, 1 when something is damaged or cannot be checked, 2 for wrong options.
`

/** Something the user has to change; shown without a stack. */
class DoctorError extends Error {
  override readonly name = 'DoctorError'
}

const silent: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }
const print = (text: string): unknown => process.stdout.write(`${text}\n`)
const root = join(import.meta.dirname, '..')

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      backup: { type: 'string' },
      repair: { type: 'boolean' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const env = readEnv(process.env, root)
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  const isRepair = values.repair === true
  const needsRest = isRepair || values.backup !== undefined
  await using stack = new AsyncDisposableStack()
  const lock = values.nats === undefined ? await lockUnlessRunning(dataDir) : undefined
  if (lock !== undefined) stack.use(lock)
  if (needsRest && (lock === undefined || env['NATS_URL'])) {
    throw new DoctorError(
      'Only data of a host that is stopped can be copied or repaired, and only of its own nats-server. Stop it first.',
    )
  }
  if (needsRest) {
    const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
    const target = resolve(values.backup ?? join(dataDir, `backup-${time}`))
    const from = join(dataDir, 'nats')
    await cp(from, target, { recursive: true, errorOnExist: true, force: false })
    print(`copied ${from} to ${target}`)
  }
  const url = values.nats ?? (await brokerUrl(env, dataDir, lock !== undefined, stack))
  const bus = stack.use(await connectBus({ url, name: 'doctor', logger: silent }))
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
  print(`${damaged.length} sessions are taken as whole from here on`)
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

/** The broker of the host; where none runs, one is started on its data and ends with the stack. */
async function brokerUrl(
  env: Env,
  dataDir: string,
  isStopped: boolean,
  stack: AsyncDisposableStack,
): Promise<string> {
  if (!isStopped || env['NATS_URL']) return findBroker(env, root)
  const bin = env['NATS_SERVER_BIN']
  if (bin === undefined) throw new DoctorError('nats-server was not found; set NATS_SERVER_BIN')
  const guardian = stack.use(new Guardian())
  const server = await startNatsServer(guardian, { bin, dataDir: join(dataDir, 'nats') })
  stack.defer(() => server.stop())
  return server.url
}

/** Prints what is wrong. */
async function examine(bus: Bus): Promise<DamagedSession[]> {
  const { records } = await bus.directory.watch()
  const { lost, counts, isReliable } = await bus.sessions.counts()
  const damaged = await findDamage(bus, records.values())
  print(`${records.size} sessions are known, ${counts.size} have a log`)
  if (!isReliable) print('nats-server counts entries that it does not have: its files are damaged')
  for (const { after, through, at } of lost) {
    const when = new Date(at).toISOString()
    print(
      `lost: the end of the log from ${after + 1} on, noticed at ${when}; it goes on after ${through}`,
    )
  }
  for (const { session, title, had, has } of damaged) {
    print(`damaged: session ${session} "${plain(title)}" has ${has} of ${had} entries`)
  }
  if (damaged.length === 0) print('no session misses entries')
  return damaged
}

stopWithLauncher()
try {
  process.exitCode = await main()
} catch (error) {
  const isWrongUse = error instanceof TypeError && 'code' in error
  const isKnown = isWrongUse || error instanceof DoctorError || error instanceof BusError
  const text = isKnown ? error.message : String(error instanceof Error ? error.stack : error)
  process.stderr.write(isWrongUse ? `${text}\n\n${USAGE}` : `${text}\n`)
  process.exitCode = isWrongUse ? 2 : 1
}

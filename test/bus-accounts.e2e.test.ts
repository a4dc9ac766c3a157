// Accounts at nats-server as operators set them up, by `npm run bus-accounts`.
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import { connectBus, seedFileOf } from '@mcp-host/bus'
import { BusError } from '@mcp-host/contracts'
import { eventually, runProgram, startBroker, testFolder } from '@mcp-host/testkit'
import { freePort, startService } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded, stopProcess } from '@mcp-host/process'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const logger = { info: () => {}, warn: () => {}, error: () => {} }

let cleanup: AsyncDisposableStack
let folder: string
beforeEach(async () => {
  cleanup = new AsyncDisposableStack()
  folder = cleanup.use(await testFolder()).path
})
afterEach(() => cleanup.disposeAsync())

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const program = cleanup.use(await runProgram([...args], env))
  expect(await program.ended(), program.output()).toEqual({ code: 0, signal: null })
  return program.output()
}

describe('npm run bus-accounts', () => {
  test('the written accounts are included by a nats-server, whose services connect once it is provisioned', async () => {
    const out = join(folder, 'out')
    expect(await run(['bus-accounts', '--out', out])).toContain('accounts.conf')
    expect((await readdir(out)).toSorted()).toEqual([
      'accounts.conf',
      'gateway.nk',
      'llm-worker.nk',
      'mcp-supervisor.nk',
      'orchestrator.nk',
      'tools.nk',
    ])
    const { url } = await provisioned(out)
    const credential = { seedFile: seedFileOf(out, 'orchestrator') }
    await using bus = await connectBus({ url, name: 'orchestrator', logger, credential })
    expect((await bus.sessions.counts()).isReliable).toBe(true)
  })

  test('both credentials are good during a rotation, and those before it are refused after', async () => {
    const [out, config] = [join(folder, 'out'), join(folder, 'accounts', 'accounts.conf')]
    await mkdir(dirname(config))
    const change = (...command: string[]): Promise<string> =>
      run(['bus-accounts', ...command, '--out', out, '--config', config])
    await change()
    const { url, reload } = await provisioned(out, config)
    const seedFile = seedFileOf(out, 'gateway')
    const old = { seedFile: join(folder, 'gateway.nk') }
    await copyFile(seedFile, old.seedFile)
    const open = async (credential: { readonly seedFile: string }): Promise<Bus | undefined> =>
      connectBus({ url, name: 'gateway', logger, credential }).catch((error: unknown) => {
        if (error instanceof BusError && error.code === 'denied') return undefined
        throw error
      })
    await using running = await open(old)
    // A repeated rotation is the same one.
    await change('rotate', '--nats', url)
    await change('rotate', '--nats', url)
    expect(await open({ seedFile })).toBeUndefined()
    reload()
    await using replaced = await eventually(() => open({ seedFile }))
    await using returned = await open(old)
    await replaced.ping()
    await returned?.ping()
    expect(running?.sinceOutageMs()).toBe(Infinity)
    await change('retire', '--nats', url)
    reload()
    await eventually(() => running?.sinceOutageMs() === 0)
    expect(await open(old)).toBeUndefined()
    await replaced.ping()
    expect(replaced.sinceOutageMs()).toBe(Infinity)
    const log = await run(['audit', 'export'], {
      NATS_URL: url,
      NATS_NKEY_SEED_FILE: seedFileOf(out, 'tools'),
    })
    const changes = ['rotate', 'rotate', 'retire']
    expect(Array.from(log.matchAll(/"keys":"bus","change":"(\w+)"/g), ([, each]) => each)).toEqual(
      changes,
    )
  })
})

/** A nats-server with the written accounts, with the streams of the host. */
async function provisioned(out: string, accounts = join(out, 'accounts.conf')) {
  const port = await freePort()
  const config = `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\ninclude ${relative(folder, accounts)}\n`
  await writeFile(join(folder, 'server.conf'), config)
  const guardian = cleanup.use(new Guardian())
  const server = await spawnGuarded(guardian, {
    command: process.env['NATS_SERVER_BIN'] ?? 'nats-server',
    args: ['-c', join(folder, 'server.conf')],
    cwd: folder,
    env: {},
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  cleanup.defer(async () => void (await stopProcess(server, { graceMs: 5_000 })))
  const url = `nats://127.0.0.1:${port}`
  const provision = ['bus-accounts', 'provision', '--nats', url, '--credentials', out]
  expect(await run(provision)).toContain('are there')
  return { url, reload: () => server.signal('SIGHUP') }
}

test("a service that has another one's credential ends at its start and says which it needs", async () => {
  const broker = cleanup.use(await startBroker({ hasAccounts: true }))
  const guardian = cleanup.use(new Guardian())
  const starting = startService(guardian, {
    name: 'mcp-supervisor',
    folder,
    env: {
      PATH: process.env['PATH'],
      NATS_URL: broker.url,
      NATS_NKEY_SEED_FILE: broker.seedFile('gateway'),
    },
  })
  await expect(starting).rejects.toThrow(
    'NATS_NKEY_SEED_FILE has the credential of gateway (account EDGE); mcp-supervisor needs that of mcp-supervisor (account SUP)',
  )
})

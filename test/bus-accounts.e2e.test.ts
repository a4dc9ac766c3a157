// Accounts at nats-server as operators set them up, by `npm run bus-accounts`.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectBus, seedFileOf } from '@mcp-host/bus'
import { runProgram, startBroker, testFolder } from '@mcp-host/testkit'
import { freePort, startService } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded, stopProcess } from 'mcp-host/process'
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
    const port = await freePort()
    const config = `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\ninclude out/accounts.conf\n`
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
    const credential = { seedFile: seedFileOf(out, 'orchestrator') }
    await using bus = await connectBus({ url, name: 'orchestrator', logger, credential })
    expect((await bus.sessions.counts()).isReliable).toBe(true)
  })
})

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

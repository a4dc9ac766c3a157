// nats-server as the compose file runs it; the test restarts it as the container engine does.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { connectBus } from '@mcp-host/bus'
import { newEnvelope, newSessionId } from '@mcp-host/contracts'
import { canMount, eventually, smallDisk, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '..')
const isMountable = await canMount()
const skipReason = isMountable ? '' : ' (skipped: it must mount a tmpfs)'
const silent = { info: () => {}, warn: () => {}, error: () => {} }

test.skipIf(!isMountable)(
  `nats-server of the compose file stores again by itself once its full disk has room${skipReason}`,
  async () => {
    await using disk = await smallDisk(64)
    await using folder = await testFolder()
    const ports = { 4222: await freePort(), 8222: await freePort() }
    await using container = await startContainer(folder.path, disk.path, ports)
    const url = `nats://127.0.0.1:${ports[4222]}`
    await using bus = await eventually(() =>
      connectBus({ url, name: 'test', logger: silent }).catch(() => undefined),
    )
    const session = newSessionId()
    const isStored = (): Promise<boolean> =>
      bus.sessions
        .append(
          session,
          { kind: 'input', fact: { id: 'a', text: 'x'.repeat(10_000) } },
          { envelope: newEnvelope('local'), messageId: crypto.randomUUID(), patienceMs: 3_000 },
        )
        .then(
          () => true,
          () => false,
        )
    expect(await isStored()).toBe(true)
    await disk.fill()
    const health = `http://127.0.0.1:${ports[8222]}/healthz`
    await eventually(async () => !(await isStored()) && (await fetch(health)).status === 503)
    expect(container.starts()).toBe(1)
    await disk.free()
    await eventually(isStored, { limitMs: 40_000 })
    expect(container.starts()).toBe(2)
  },
  90_000,
)

/** Runs the command of the compose file with its configuration, again whenever it ends. */
async function startContainer(
  folder: string,
  data: string,
  ports: Readonly<Record<4222 | 8222, number>>,
): Promise<AsyncDisposable & { starts(): number }> {
  const here = (text: string): string =>
    text
      .replace('/etc/nats/run.sh', join(root, 'deploy', 'nats', 'run.sh'))
      .replace('/etc/nats', folder)
      .replace('/data', data)
      .replace('4222', String(ports[4222]))
      .replace('8222', String(ports[8222]))
  const compose = parse(await readFile(join(root, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as {
    readonly services: { readonly nats: { readonly command: readonly string[] } }
  }
  const [command = '', ...args] = compose.services.nats.command.map(here)
  const config = await readFile(join(root, 'deploy', 'nats', 'nats.conf'), 'utf8')
  await writeFile(join(folder, 'nats.conf'), here(config))
  await mkdir(join(folder, 'accounts'))
  await writeFile(join(folder, 'accounts', 'accounts.conf'), '')
  const bin = dirname(process.env['NATS_SERVER_BIN'] ?? '')
  const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, NATS_MAX_FILE_STORE: '1GB' }
  let starts = 0
  let isOpen = true
  let child: ChildProcess | undefined
  /** Ends all processes of the container, as its engine does with the first one. */
  const end = (): void => {
    try {
      if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // They have ended.
    }
  }
  const run = async (): Promise<void> => {
    while (isOpen) {
      starts++
      child = spawn(command, args, { env, detached: true, stdio: 'ignore' })
      await once(child, 'exit')
      end()
    }
  }
  const running = run()
  return {
    starts: () => starts,
    async [Symbol.asyncDispose]() {
      isOpen = false
      end()
      await running
    },
  }
}

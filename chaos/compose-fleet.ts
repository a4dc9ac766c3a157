import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ComposeProject, eventually, isReady, readJournal } from '@mcp-host/testkit'
import { freePort, SERVICES } from '@mcp-host/tools/host'
import { Container } from './container.ts'
import { TARGETS } from './faults.ts'
import type { Target } from './faults.ts'
import type { Fleet } from './fleet.ts'
import { Replica } from './replica.ts'
import { PROGRAM_FOLDER, TOOL_COUNT, toolServers } from './servers/tool-servers.ts'

const NATS_PORT = 4222

export interface ComposeFleetOptions {
  /** Folder for the journal, the configuration and the credential of this run. */
  readonly folder: string
  /** Number of containers of each service. */
  readonly instances: number
  /** Additional settings of all services. */
  readonly env: Readonly<Record<string, string>>
}

/** The host of `docker-compose.yml`, with its images and its proxy. Its clients must authenticate. */
export async function startComposeFleet({
  folder,
  instances,
  env,
}: ComposeFleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  const journal = join(folder, 'journal')
  await mkdir(journal)
  const journalFile = join(journal, 'calls.jsonl')
  // Each server has a user of its own.
  for (const file of [journalFile, `${journalFile}.cancelled`]) {
    await writeFile(file, '')
    await chmod(file, 0o666)
  }
  const config = join(folder, 'config')
  await mkdir(config)
  await writeFile(
    join(config, 'mcp.json'),
    JSON.stringify({ servers: toolServers(journalFile, 'node') }),
  )

  const [port, natsPort] = [await freePort(), await freePort()]
  const environment = { ...env, LLM_PROVIDER: 'demo', DEMO_SCRIPTED: 'true' }
  const service = { scale: instances, environment }
  const project = stack.use(
    await ComposeProject.build({
      name: 'mcp-host-chaos',
      folder,
      services: {
        gateway: service,
        orchestrator: service,
        'llm-worker': service,
        'mcp-supervisor': {
          ...service,
          volumes: [
            `${config}:/etc/mcp-host/config:ro`,
            `${PROGRAM_FOLDER}:${PROGRAM_FOLDER}:ro`,
            `${journal}:${journal}`,
          ],
        },
        // The network of the bus publishes no ports.
        nats: { networks: ['bus', 'monitoring'], ports: [`127.0.0.1:${natsPort}:${NATS_PORT}`] },
      },
      env: { PORT: String(port) },
    }),
  )
  await project.up(['proxy', ...SERVICES])
  const url = `http://127.0.0.1:${port}`
  await eventually(() => isReady(url, TOOL_COUNT), { what: 'a ready host', limitMs: 90_000 })

  const seedFile = join(folder, 'tools.nk')
  const cat = ['run', '--rm', '--no-deps', '--entrypoint', 'cat', 'tools']
  await writeFile(seedFile, await project.compose(...cat, '/run/bus.nk'), { mode: 0o600 })

  const all = new Map<Target, readonly Replica[]>()
  for (const target of TARGETS) {
    const ids = await project.containersOf(target)
    const replicas = ids.map((id, index) =>
      Replica.start(`${target}-${index}`, () => Container.start(project, id)),
    )
    all.set(target, await Promise.all(replicas))
  }
  const open = stack.move()
  return {
    urls: [url],
    broker: { url: `nats://127.0.0.1:${natsPort}`, credential: { seedFile } },
    natsServers: 1,
    replicas: (target) => all.get(target) ?? [],
    runHostileServer: () => Promise.reject(new Error('containers have no hostile servers')),
    moveClock: () => Promise.reject(new Error('the clocks of containers are not moved')),
    corrupt: () => Promise.reject(new Error('the data of containers is not damaged')),
    hasConnected: () => false,
    journal: () => readJournal(journalFile),
    async [Symbol.asyncDispose]() {
      for (const replica of [...all.values()].flat()) replica.release()
      const logs = await project.compose('logs', '--no-color', '--no-log-prefix', ...SERVICES)
      await writeFile(join(folder, 'services.log'), logs)
      await open.disposeAsync()
    },
  }
}

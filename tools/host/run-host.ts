import { join } from 'node:path'
import { gatewaySettings } from '@mcp-host/gateway/config'
import { workerSettings } from '@mcp-host/llm-worker/config'
import { orchestratorSettings } from '@mcp-host/orchestrator/config'
import type { Settings } from '@mcp-host/service'
import { baseSettings } from '@mcp-host/service'
import { Guardian } from 'mcp-host/process'
import type { Say } from './keep-running.ts'
import { keepRunning } from './keep-running.ts'
import { freePort, startNatsServer } from './nats-server.ts'
import { removeRunFile, writeRunFile } from './run-file.ts'
import type { ServiceName } from './service-process.ts'
import { SERVICES, startService } from './service-process.ts'
import type { Env } from './settings.ts'

export interface HostOptions {
  readonly env: Env
  readonly dataDir: string
  /** The nats-server program; not needed when `NATS_URL` is set. */
  readonly natsServerBin: string | undefined
  readonly say: Say
}

export interface RunningHost extends AsyncDisposable {
  /** Of the gateway. */
  readonly url: string
}

/** Starts nats-server and the services, starts again what dies, and stops all when disposed. */
export async function runHost({
  env,
  dataDir,
  natsServerBin,
  say,
}: HostOptions): Promise<RunningHost> {
  await using stack = new AsyncDisposableStack()
  // Whatever happens to this process: nothing outlives it.
  const guardian = stack.use(new Guardian())
  const processes = new Map<string, { name: string; pid: number; url?: string }>()
  const note = async (): Promise<void> => {
    const url = processes.get('gateway')?.url ?? ''
    await writeRunFile(dataDir, { pid: process.pid, url, processes: [...processes.values()] })
  }
  stack.defer(() => removeRunFile(dataDir))

  const natsUrl = env['NATS_URL'] || (await startBroker())
  const port = env['PORT'] === '0' ? String(await freePort()) : env['PORT']
  const keepers = await Promise.all(SERVICES.map((name) => keepService(name)))
  const [gateway] = keepers
  say('services', SERVICES.join(', '))
  // Closed in this order: first the edge, last who runs the tools.
  stack.defer(async () => {
    for (const keeper of keepers) await keeper[Symbol.asyncDispose]()
  })
  await note()
  const open = stack.move()
  return {
    url: gateway?.first.url ?? '',
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }

  async function startBroker(): Promise<string> {
    if (natsServerBin === undefined) {
      throw new Error('nats-server was not found; set NATS_SERVER_BIN or NATS_URL')
    }
    const folder = join(dataDir, 'nats')
    // The same address and token for its successors, so that the services find them.
    const options = {
      bin: natsServerBin,
      dataDir: folder,
      port: await freePort(),
      token: crypto.randomUUID(),
    }
    const remember = (pid: number): unknown =>
      processes.set('nats-server', { name: 'nats-server', pid })
    const keeper = stack.use(
      await keepRunning({
        name: 'nats-server',
        start: () => startNatsServer(guardian, options),
        onRestart: (server) => void (remember(server.process.pid), note()),
        say,
      }),
    )
    remember(keeper.first.process.pid)
    say('nats-server', `127.0.0.1:${options.port}, data in ${folder}`)
    return keeper.first.url
  }

  async function keepService(name: ServiceName) {
    const folder = join(dataDir, 'processes')
    const own = { ...environmentOf(name, env), NATS_URL: natsUrl, PORT: port }
    const remember = ({ pid, url }: { pid: number; url: string }): unknown =>
      processes.set(name, { name, pid, url })
    const keeper = await keepRunning({
      name,
      start: () => startService(guardian, { name, env: own, folder }),
      onRestart: (service) => void (remember(service), note()),
      say,
    })
    remember(keeper.first)
    return keeper
  }
}

const SETTINGS: Partial<Record<ServiceName, Settings>> = {
  gateway: gatewaySettings,
  orchestrator: orchestratorSettings,
  'llm-worker': workerSettings,
}

/** What a service is given of the environment: its own settings, so that no other's secrets. */
function environmentOf(name: ServiceName, env: Env): Env {
  const settings = SETTINGS[name]
  // mcp.json may refer to any variable; MCP servers get only what it names.
  if (settings === undefined) return env
  const names = [...Object.values(baseSettings), ...Object.values(settings)].map((each) => each.env)
  const system = ['PATH', 'HOME', 'TZ', 'LANG', 'TMPDIR', 'NODE_EXTRA_CA_CERTS']
  return Object.fromEntries([...system, ...names].map((each) => [each, env[each]]))
}

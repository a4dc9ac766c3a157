// What an operator of the compose file has to expect, while clients chat and call tools all the time.
import { join } from 'node:path'
import { ComposeProject, eventually, missingForCompose, testFolder } from '@mcp-host/testkit'
import { freePort, SERVICES } from '@mcp-host/tools/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Figures, Headers } from './compose-load.ts'
import { connect, createKey, underLoad } from './compose-load.ts'

const REPLICAS = 2
const MAX_FAILED_CALLS = 10
/** Within which `/health` says what is wrong. */
const TELL_LIMIT_MS = 30_000
const RECOVERY_LIMIT_MS = 90_000
const MOVED_CLOCK = join(import.meta.dirname, '..', 'packages/testkit/fixtures/moved-clock.ts')

const missing = missingForCompose()
const reason = missing === undefined ? '' : ` (skipped: there is no ${missing})`

const open = new AsyncDisposableStack()
let project: ComposeProject
let url: string
let headers: Headers

describe.skipIf(missing !== undefined)(`the compose file under load${reason}`, () => {
  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const ports = await Promise.all([freePort(), freePort(), freePort()])
    const [PORT = '', PROMETHEUS_PORT = '', GRAFANA_PORT = ''] = ports.map(String)
    url = `http://127.0.0.1:${PORT}`
    // Another label makes another image.
    const build = { args: { REVISION: '${REVISION:-1}' } }
    const names = [...SERVICES, 'bus-accounts', 'provision']
    const variables = SERVICES.map((name) => `${name.toUpperCase().replace('-', '_')}_REPLICAS`)
    project = open.use(
      await ComposeProject.build({
        name: 'mcp-host-drills',
        folder: folder.path,
        services: {
          ...Object.fromEntries(names.map((name) => [name, { build }])),
          gateway: {
            build,
            environment: {
              CLOCK_OFFSET_MS: '${CLOCK_OFFSET_MS:-0}',
              NODE_OPTIONS: `--import=file://${MOVED_CLOCK}`,
            },
            volumes: [`${MOVED_CLOCK}:${MOVED_CLOCK}:ro`],
          },
          'llm-worker': {
            build,
            environment: {
              LLM_PROVIDER: 'demo',
              DEMO_TOKENS_PER_SECOND: '0',
              ROTATED_KEY: '${ROTATED_KEY:-old}',
            },
          },
          // Fills the disk, which is there while a container has it.
          disk: {
            image: 'node:24-bookworm-slim',
            user: '1000:1000',
            init: true,
            command: ['sleep', 'infinity'],
            volumes: ['nats:/data'],
            network_mode: 'none',
          },
        },
        volumes: {
          nats: {
            driver: 'local',
            driver_opts: { type: 'tmpfs', device: 'tmpfs', o: 'size=512m,uid=1000,gid=1000' },
          },
        },
        env: {
          AUTH: 'keys',
          AUDIT: 'async',
          LIMIT_REQUESTS: '1000/s',
          LIMIT_MESSAGES: '10000/m',
          LIMIT_SESSION_MESSAGES: '10000/m',
          LIMIT_TOOL_CALLS: '10000/m',
          LIMIT_TOKENS: '1000000000/d',
          PORT,
          PROMETHEUS_PORT,
          GRAFANA_PORT,
          ...Object.fromEntries(variables.map((name) => [name, String(REPLICAS)])),
        },
      }),
    )
    await project.compose('up', '--detach', '--wait', '--no-build')
    headers = await createKey(project, 'load')
    await eventually(() => hasBothServers().catch(() => false), { limitMs: RECOVERY_LIMIT_MS })
  }, 1_200_000)
  afterAll(() => open.disposeAsync(), 120_000)

  test('an upgrade replaces every container of a service, and costs no turn and few calls', async () => {
    const before = await containers()
    const figures = await underLoad(url, headers, () => {
      project.set({ REVISION: '2' })
      return project.roll('upgrade')
    })
    expectUnnoticed('upgrade', figures)
    const after = await containers()
    for (const service of SERVICES) {
      expect(after.get(service)).toHaveLength(REPLICAS)
      expect(before.get(service)?.filter((each) => after.get(service)?.includes(each))).toEqual([])
    }
    expectSame(before, after, ['nats', 'proxy', 'everything', 'prometheus', 'grafana'])
    // Every supervisor that has ended has left its last checkpoint.
    const cat = ['run', '--rm', '--no-deps', '--entrypoint', 'cat', 'tools']
    const checkpoints = await project.compose(...cat, '/checkpoints/mcp-supervisor.jsonl')
    const writers = new Set(checkpoints.match(/"writer":"[^"]+"/g))
    expect(writers.size).toBeGreaterThanOrEqual(REPLICAS)
    // All is as the file has it.
    await project.compose('up', '--detach', '--no-build')
    expectSame(after, await containers(), [...SERVICES, 'nats', 'proxy'])
  }, 600_000)

  test('docker compose up of another version leaves nats-server and the proxy alone, and costs no turn', async () => {
    const before = await containers()
    project.set({ REVISION: '3' })
    await project.compose('--profile', 'tools', 'build')
    const figures = await underLoad(url, headers, () =>
      project.compose('up', '--detach', '--wait', '--no-build'),
    )
    say('docker compose up', figures)
    expect(figures.failedTurns).toEqual([])
    expectSame(before, await containers(), ['nats', 'proxy', 'everything'])
  }, 600_000)

  test('credentials on the bus and keys in .env are rotated, and cost no turn and few calls', async () => {
    const before = await busKeys()
    const figures = await underLoad(url, headers, async () => {
      await project.roll('rotate')
      project.set({ ROTATED_KEY: 'next' })
      await project.roll('replace', 'llm-worker')
    })
    expectUnnoticed('rotation', figures)
    const after = await busKeys()
    expect(after).toHaveLength(before.length)
    expect(before.filter((key) => after.includes(key))).toEqual([])
    const workers = await project.containersOf('llm-worker')
    expect(workers).toHaveLength(REPLICAS)
    for (const id of workers) {
      expect((await project.inspect(id)).Config.Env).toContain('ROTATED_KEY=next')
    }
  }, 600_000)

  test.each([5_000, -5_000])(
    'gateways whose clocks are %i ms off say so, and cost no turn and few calls',
    async (offsetMs) => {
      const figures = await underLoad(url, headers, async () => {
        project.set({ CLOCK_OFFSET_MS: String(offsetMs) })
        await project.roll('replace', 'gateway')
        await saysWithin(TELL_LIMIT_MS, '"clock":"wrong"')
        project.set({ CLOCK_OFFSET_MS: '0' })
        await project.roll('replace', 'gateway')
        await saysWithin(TELL_LIMIT_MS, '"clock":"right"')
      })
      expectUnnoticed(`clock ${offsetMs} ms`, figures)
    },
    600_000,
  )

  test('a full disk is in /health, and once it has room all turns go on by themselves', async () => {
    const [disk = ''] = await project.containersOf('disk')
    const figures = await underLoad(url, headers, async () => {
      const fill =
        'dd if=/dev/zero of=/data/filler bs=64k; dd if=/dev/zero of=/data/rest bs=1; true'
      await project.docker('exec', disk, 'sh', '-c', fill)
      await saysWithin(TELL_LIMIT_MS, '"storage":')
      await project.docker('exec', disk, 'rm', '/data/filler', '/data/rest')
      await saysWithin(RECOVERY_LIMIT_MS, '"status":"healthy"')
    })
    say('full disk', figures)
    expect(figures.failedTurns).toEqual([])
  }, 600_000)
})

async function hasBothServers(): Promise<boolean> {
  await using client = await connect(url, headers)
  const { tools } = await client.listTools()
  return new Set(tools.map(({ name }) => name.split('__')[0])).size >= 2
}

function expectUnnoticed(what: string, figures: Figures): void {
  say(what, figures)
  const { failedTurns, failedCalls } = figures
  expect(failedTurns).toEqual([])
  expect(failedCalls.length, failedCalls.join('\n')).toBeLessThanOrEqual(MAX_FAILED_CALLS)
}

function say(what: string, figures: Figures): void {
  const { turns, failedTurns, calls, failedCalls, longestGapMs } = figures
  const gap = `${Math.round(longestGapMs)} ms without an answer at most`
  process.stdout.write(
    `${what}: ${turns} turns, ${failedTurns.length} failed; ${calls} calls, ${failedCalls.length} failed; ${gap}\n`,
  )
}

type Containers = ReadonlyMap<string, readonly string[]>

/** The running containers of each service, with the times of their starts. */
async function containers(): Promise<Containers> {
  const ids = (await project.compose('ps', '--quiet')).trim().split('\n')
  const format =
    '{{index .Config.Labels "com.docker.compose.service"}} {{.Id}} {{.State.StartedAt}}'
  const lines = await project.docker('inspect', '--format', format, ...ids)
  return Map.groupBy(lines.trim().split('\n'), (line) => line.split(' ')[0] ?? '')
}

function expectSame(before: Containers, after: Containers, services: readonly string[]): void {
  for (const service of services) {
    expect(after.get(service)?.toSorted(), service).toEqual(before.get(service)?.toSorted())
  }
}

/** The public keys that nats-server accepts. */
async function busKeys(): Promise<readonly string[]> {
  const [nats = ''] = await project.containersOf('nats')
  const config = await project.docker('exec', nats, 'cat', '/etc/nats/accounts/accounts.conf')
  return config.match(/\bU[A-Z2-7]{55}\b/g) ?? []
}

/** Waits until the gateways answer so. */
async function saysWithin(limitMs: number, text: string): Promise<void> {
  const says = async (): Promise<boolean> => {
    const response = await fetch(`${url}/health`, { headers })
    return (await response.text()).includes(text)
  }
  await eventually(() => says().catch(() => false), { what: text, limitMs })
}

import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import { newEnvelope, newSessionId } from '@mcp-host/contracts'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { freePort, startNatsServer } from '@mcp-host/tools/host'
import { Guardian } from '@mcp-host/process'
import { expect, test } from 'vitest'

const logger = { info: () => {}, warn: () => {}, error: () => {} }
/** The streams of the logs, six buckets and the object store. */
const STREAMS = 8
const bytes = new Uint8Array(2_000_000)

/** The answer of `/jsz` of a nats-server. */
interface JetStreamState {
  readonly meta_cluster: { readonly leader?: string }
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string
      readonly config: { readonly num_replicas: number }
      readonly cluster: {
        readonly leader?: string
        readonly replicas?: readonly { readonly current: boolean }[]
      }
    }[]
  }[]
}

async function startCluster(stack: AsyncDisposableStack) {
  const folder = stack.use(await testFolder())
  const guardian = stack.use(new Guardian())
  const ports: number[] = []
  while (ports.length < 6) ports.push(await freePort())
  const routes = ports.slice(0, 3)
  const token = crypto.randomUUID()
  return Promise.all(
    routes.map(async (port, index) => {
      const name = `node-${index}`
      const healthPort = ports[3 + index] ?? 0
      const server = await startNatsServer(guardian, {
        bin: process.env['NATS_SERVER_BIN'] ?? 'nats-server',
        dataDir: join(folder.path, name),
        token,
        cluster: { name, port, ports: routes, healthPort },
      })
      return { ...server, name, healthPort }
    }),
  )
}

async function look(server: { readonly name: string; readonly healthPort: number }) {
  const query = 'acc=$G&streams=true&config=true'
  const response = await fetch(`http://127.0.0.1:${server.healthPort}/jsz?${query}`)
  const state = (await response.json()) as JetStreamState
  const details = state.account_details?.flatMap((account) => account.stream_detail ?? []) ?? []
  // Only the leader of a stream knows its state.
  const led = details.filter(({ cluster }) => cluster.leader === server.name)
  const isComplete = ({ config, cluster }: (typeof led)[number]): boolean =>
    config.num_replicas === 3 && cluster.replicas?.every(({ current }) => current) === true
  return {
    complete: led.filter(isComplete).length,
    leadsCluster: state.meta_cluster.leader === server.name,
    led: led.map(({ name }) => name),
  }
}

type Server = Awaited<ReturnType<typeof startCluster>>[number]

/** A nats-server that leads no stream. If each one leads some, those of one server are moved away. */
async function findFollower(servers: readonly Server[]): Promise<Server | undefined> {
  const states = await Promise.all(servers.map(look))
  if (states.reduce((sum, { complete }) => sum + complete, 0) !== STREAMS) return undefined
  const index = states.findIndex(({ leadsCluster }) => !leadsCluster)
  const idle = states.findIndex(({ leadsCluster, led }) => !leadsCluster && led.length === 0)
  if (idle === -1) await stepDown(servers[index], states[index]?.led ?? [])
  return servers[idle]
}

/** Requests other leaders of these streams over a plain socket, because the bus has no such call. */
async function stepDown(server: Server | undefined, streams: readonly string[]): Promise<void> {
  const { hostname, port, username } = new URL(server?.url ?? '')
  const socket = connectSocket(Number(port), hostname)
  const options = JSON.stringify({ auth_token: username, verbose: false })
  const requests = streams.map(
    (name) => `PUB $JS.API.STREAM.LEADER.STEPDOWN.${name} reply 0\r\n\r\n`,
  )
  socket.write(`CONNECT ${options}\r\n${requests.join('')}PING\r\n`)
  for await (const data of socket) if (String(data).includes('PONG')) break
}

async function useAll(bus: Bus): Promise<void> {
  const id = newSessionId()
  const envelope = newEnvelope('local')
  const input = { kind: 'input', fact: { id: 'a', text: 'a' } } as const
  const { seq } = await bus.sessions.append(id, input, { envelope, messageId: 'a' })
  expect(await bus.sessions.lastSequence(id)).toBe(seq)
  expect(await bus.sessions.read(id, 0, { through: seq })).toHaveLength(1)
  await bus.snapshots.put(id, bytes)
  expect(await bus.snapshots.get(id)).toHaveLength(bytes.length)
  expect(await bus.directory.get(id)).toBeUndefined()
  await eventually(() =>
    bus.leases.acquire(`server.${id}`, { ttlMs: 5_000 }).catch(() => undefined),
  )
  await eventually(() =>
    bus.catalog.put({ kind: 'model', provider: 'demo', model: 'demo' }).then(
      () => true,
      () => false,
    ),
  )
}

test('stored data is replicated three times when configured, and survives the loss of a nats-server', async () => {
  await using stack = new AsyncDisposableStack()
  const servers = await startCluster(stack)
  const url = servers.map((server) => server.url).join(',')
  const connect = async (count: number): Promise<Bus> =>
    stack.use(
      await eventually(() =>
        // The cluster may still elect leaders.
        connectBus({ url, name: 'test', logger, replicas: count }).catch(() => undefined),
      ),
    )
  await useAll(await connect(1))
  const bus = await connect(3)
  // A cluster that has just started loses its streams with its leader (nats-server 2.15.1).
  const follower = await eventually(() => findFollower(servers), {
    limitMs: 60_000,
    what: 'three of each stream',
  })
  follower.process.signal('SIGKILL')
  await follower.process.gone
  await useAll(bus)
}, 120_000)

test('replicas without a cluster are refused with the reason', async () => {
  await using broker = await startBroker()
  const connecting = connectBus({ url: broker.url, name: 'test', logger, replicas: 3 })
  await expect(connecting).rejects.toMatchObject({
    code: 'invalid',
    message: 'nats-server is no cluster and cannot keep 3 replicas; set NATS_REPLICAS=1',
  })
})

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, serverStates, startGateways } from '@mcp-host/testkit'
import { Guardian } from '@mcp-host/process'
import type { Endpoint, Sdk } from './clients.ts'
import { connect, SDKS } from './clients.ts'
import type { Command } from './command.ts'
import { prepareCommand } from './command.ts'
import type { Difference } from './compare.ts'
import { compareObservations } from './compare.ts'
import type { Exception } from './exceptions.ts'
import { findException } from './exceptions.ts'
import type { Observation } from './observe.ts'
import { observe } from './observe.ts'
import type { RealServer } from './servers.ts'

/** Servers that run concurrently. */
const BATCH_SIZE = 4
/** Limit for all requests of one client. */
const CLIENT_LIMIT_MS = 90_000
const READY_LIMIT_MS = 60_000

export interface CompatRun {
  readonly servers: readonly RealServer[]
  /** Resolves with the folder of the server's installed package. */
  readonly locate: (server: RealServer) => Promise<string>
  /** Folder for logs and working folders. */
  readonly folder: string
  /** Called with each result as soon as it is known. */
  readonly onResult?: (result: ServerResult) => void
}

export interface ServerResult {
  readonly name: string
  /** Reasons why a comparison failed. */
  readonly faults: readonly string[]
  readonly differences: readonly FoundDifference[]
  /** The observation without a gateway, by the last SDK that succeeded. */
  readonly direct: Observation
}

export interface FoundDifference extends Difference {
  readonly sdk: Sdk
  readonly mount: string
  /** The exception that applies. */
  readonly exception: Exception | undefined
}

/** A server and its results so far. */
interface Subject {
  readonly server: RealServer
  readonly folder: string
  readonly command: Command
  readonly direct: Map<Sdk, Observation>
  readonly faults: string[]
  readonly differences: FoundDifference[]
}

/** Compares observations of each server with and without a gateway. */
export async function runCompat(run: CompatRun): Promise<ServerResult[]> {
  const results: ServerResult[] = []
  for (let start = 0; start < run.servers.length; start += BATCH_SIZE) {
    const batch = run.servers.slice(start, start + BATCH_SIZE)
    for (const result of await runBatch(batch, run)) {
      run.onResult?.(result)
      results.push(result)
    }
  }
  return results
}

async function runBatch(
  servers: readonly RealServer[],
  { locate, folder }: CompatRun,
): Promise<ServerResult[]> {
  const subjects = new Map<string, Subject>()
  const results = new Map<string, ServerResult>()
  for (const server of servers) {
    const { name } = server
    try {
      const ownFolder = join(folder, name)
      const command = await prepareCommand(server, await locate(server), ownFolder)
      const found = { direct: new Map(), faults: [], differences: [] }
      subjects.set(name, { server, folder: ownFolder, command, ...found })
    } catch (error) {
      // The other servers are still compared.
      results.set(name, { name, faults: [messageOf(error)], differences: [], direct: {} })
    }
  }
  const started = Array.from(subjects.values())
  await Promise.all(started.map(observeDirectly))
  await compareThroughGateway(started, join(folder, `host-of-${servers[0]?.name}`))
  for (const { server, faults, differences, direct } of started) {
    const seen = Array.from(direct.values()).at(-1) ?? {}
    results.set(server.name, { name: server.name, faults, differences, direct: seen })
  }
  return servers.flatMap(({ name }) => results.get(name) ?? [])
}

async function observeDirectly(subject: Subject): Promise<void> {
  const { server, folder, command, direct, faults } = subject
  for (const sdk of SDKS) {
    try {
      const observation = await withClient(sdk, { command }, (client) =>
        observe(client, { server, folder }),
      )
      direct.set(sdk, observation)
    } catch (error) {
      faults.push(`${sdk} directly: ${messageOf(error)}`)
    }
  }
}

async function compareThroughGateway(subjects: readonly Subject[], folder: string): Promise<void> {
  await using guardian = new Guardian()
  const servers = Object.fromEntries(subjects.map(({ server, command }) => [server.name, command]))
  await using gateways = await startGateways({ folder, guardian, servers })
  const [url = ''] = gateways.urls
  await Promise.all(
    subjects.map(async (subject) => {
      try {
        await untilReady(url, subject.server.name)
      } catch (error) {
        subject.faults.push(messageOf(error))
        return
      }
      for (const sdk of SDKS) await compareMounts(subject, sdk, url)
    }),
  )
}

async function compareMounts(subject: Subject, sdk: Sdk, url: string): Promise<void> {
  const { server, folder, direct, faults, differences } = subject
  const observation = direct.get(sdk)
  if (observation === undefined) return
  const mounts = [
    { mount: '/mcp', prefix: `${server.name}__` },
    { mount: `/mcp/servers/${server.name}` },
  ]
  for (const { mount, ...options } of mounts) {
    try {
      const through = await withClient(sdk, { url: `${url}${mount}` }, (client) =>
        observe(client, { server, folder, ...options }),
      )
      for (const difference of compareObservations(observation, through)) {
        const exception = findException({ ...difference, server: server.name, sdk })
        differences.push({ ...difference, sdk, mount, exception })
      }
    } catch (error) {
      faults.push(`${sdk} through ${mount}: ${messageOf(error)}`)
    }
  }
}

async function untilReady(url: string, name: string): Promise<void> {
  let last: unknown
  await eventually(
    async () => {
      last = (await serverStates(url)).find(({ server }) => server === name)
      return (last as { readonly state?: string } | undefined)?.state === 'ready'
    },
    { limitMs: READY_LIMIT_MS },
  ).catch(() => {
    throw new Error(`not ready through a gateway: ${JSON.stringify(last ?? 'not listed')}`)
  })
}

async function withClient<T>(
  sdk: Sdk,
  endpoint: Endpoint,
  use: (client: Awaited<ReturnType<(typeof connect)[Sdk]>>) => Promise<T>,
): Promise<T> {
  const work = async (): Promise<T> => {
    await using client = await connect[sdk](endpoint)
    return await use(client)
  }
  const tooLong = async (): Promise<never> => {
    await delay(CLIENT_LIMIT_MS, undefined, { ref: false })
    throw new Error(`took longer than ${CLIENT_LIMIT_MS / 1_000} s`)
  }
  return Promise.race([work(), tooLong()])
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

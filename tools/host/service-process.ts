import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { GuardedProcess, Guardian } from '@mcp-host/process'
import { spawnGuarded } from '@mcp-host/process'
import { z } from 'zod'
import { compileCacheFolder } from '../provision/cache.mjs'
import { root } from '../root.ts'
import { limitLogSize } from './limit-log-size.ts'
import { probeHealth } from './probe-health.ts'
import { untilStarted } from './until-started.ts'
import type { Health } from './watch-health.ts'

export const SERVICES = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const
export type ServiceName = (typeof SERVICES)[number]

const READY_LIMIT_MS = 90_000
/** A service drains for up to 30 s. */
const STOP_GRACE_MS = 32_000

const ReadyFile = z.object({ name: z.string(), pid: z.number(), url: z.string() })

export interface ServiceProcess {
  readonly name: string
  readonly pid: number
  /** Base URL of `/health`, `/ready` and `/metrics`. */
  readonly url: string
  readonly process: GuardedProcess
  /** See `watchHealth`. */
  health(signal: AbortSignal): Promise<Health | undefined>
  /** Drains and ends the process, without waiting for a successor. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  readonly name: ServiceName
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder of the log and the ready file. */
  readonly folder: string
  /** Distinguishes several processes of one service. */
  readonly instance?: string
  readonly cwd?: string
  /** Folder with the programs of `npm run build`. By default the service runs from source. */
  readonly dist?: string | undefined
}

/**
 * Size of a semi-space of the young generation, in megabytes. Messages live for milliseconds, so a larger one only
 * takes memory: the default takes 40 MB more and serves no more calls per second.
 */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=8'

/**
 * The old generation may grow to four times its size before V8 collects it, as V8 allows in a busy process. In an idle
 * process V8 collects it after some megabytes of growth, and buffers count: reading a body at 4 MB/s then causes two
 * pauses of 5 to 12 ms a second. A process under load takes 10 MB more.
 */
const RARE_COLLECTIONS = '--heap-growing-percent=300'

/** By default glibc keeps a heap for each thread, which takes 5 to 10 MB and serves no more calls per second. */
const FEW_HEAPS = { MALLOC_ARENA_MAX: '2' }

/** Starts a service as a separate process and waits until it is ready. Throws with the end of its log. */
export async function startService(
  guardian: Guardian,
  { name, env, folder, instance = name, cwd = root, dist }: ServiceOptions,
): Promise<ServiceProcess> {
  const readyFile = join(folder, `${instance}.json`)
  const logFile = join(folder, `${instance}.log`)
  await mkdir(dirname(readyFile), { recursive: true })
  await rm(readyFile, { force: true })
  const log = await open(logFile, 'a', 0o600)
  const { size: logBegin } = await log.stat()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => log.close())
  const program =
    dist === undefined
      ? join(root, 'services', name, 'src', 'main.ts')
      : join(dist, name, 'main.js')
  const child = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [SMALL_YOUNG_GENERATION, RARE_COLLECTIONS, program],
    cwd,
    env: {
      ...FEW_HEAPS,
      NODE_COMPILE_CACHE: compileCacheFolder(),
      ...env,
      READY_FILE: readyFile,
    },
    stdin: 'ignore',
    stdout: log.fd,
    stderr: log.fd,
  })
  const logSize = limitLogSize(logFile)
  void child.exited.then(() => logSize[Symbol.dispose]())
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= stopService(child))
  const ready = await untilStarted(child, READY_LIMIT_MS, () =>
    readFile(readyFile, 'utf8').catch(() => undefined),
  )
  if (ready !== undefined) {
    const { url } = ReadyFile.parse(JSON.parse(ready))
    const { pid } = child
    const health = (signal: AbortSignal): Promise<Health | undefined> =>
      probeHealth({ url, pid }, signal)
    return { name, pid, url, process: child, health, stop }
  }
  await stop()
  throw new Error(
    `${name} did not start:\n${await endOf(logFile, logBegin)}\n(all of it in ${logFile})`,
  )
}

/** SIGINT, unlike SIGTERM, does not wait for a successor. A second signal would end the process at once. */
async function stopService(child: GuardedProcess): Promise<void> {
  child.beginStop()
  child.signal('SIGINT')
  const late = setTimeout(() => child.signal('SIGKILL'), STOP_GRACE_MS)
  await child.gone
  clearTimeout(late)
}

/** The last lines of a log from an offset on, as readable text. */
async function endOf(logFile: string, begin: number): Promise<string> {
  const lines = (await readFile(logFile)).subarray(begin).toString().trimEnd().split('\n')
  return lines
    .slice(-3)
    .map((line) => `  ${messageOf(line).slice(0, 600)}`)
    .join('\n')
}

const LogLine = z.object({
  message: z.string(),
  err: z.object({ message: z.string() }).optional(),
})

function messageOf(line: string): string {
  try {
    const { message, err } = LogLine.parse(JSON.parse(line))
    return err === undefined || err.message === message ? message : `${message}: ${err.message}`
  } catch {
    // The line is not from the logger.
    return line
  }
}

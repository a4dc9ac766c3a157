import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { GuardedProcess, Guardian } from 'mcp-host/process'
import { spawnGuarded } from 'mcp-host/process'
import { z } from 'zod'
import { compileCacheFolder } from '../provision/cache.mjs'
import { limitLogSize } from './limit-log-size.ts'
import { probeHealth } from './probe-health.ts'
import type { Health } from './watch-health.ts'

export const SERVICES = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'] as const
export type ServiceName = (typeof SERVICES)[number]

const root = join(import.meta.dirname, '..', '..')
const READY_LIMIT_MS = 90_000
/** What a service takes to finish what is in hand, and a little more. */
const STOP_GRACE_MS = 32_000

const ReadyFile = z.object({ name: z.string(), pid: z.number(), url: z.string() })

export interface ServiceProcess {
  readonly name: string
  readonly pid: number
  /** Where it answers `/health`, `/ready` and `/metrics`. */
  readonly url: string
  readonly process: GuardedProcess
  /** See `watchHealth`. */
  health(signal: AbortSignal): Promise<Health | undefined>
  /** Lets it finish what is in hand, without waiting for a successor. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  readonly name: ServiceName
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** For its log and run file. */
  readonly folder: string
  /** Told apart from others of the same name by this. */
  readonly instance?: string
  readonly cwd?: string
}

/**
 * In megabytes, of each of its halves. Messages are gone within milliseconds; in a larger one they only take memory:
 * 40 MB more with the default, and no call more per second.
 */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=8'

/** glibc would keep a heap for each thread: 5 to 10 MB more, and no call more per second. */
const FEW_HEAPS = { MALLOC_ARENA_MAX: '2' }

/** Starts a service as a process of its own and waits until it is ready. Throws with the end of its log. */
export async function startService(
  guardian: Guardian,
  { name, env, folder, instance = name, cwd = root }: ServiceOptions,
): Promise<ServiceProcess> {
  const readyFile = join(folder, `${instance}.json`)
  const logFile = join(folder, `${instance}.log`)
  await mkdir(dirname(readyFile), { recursive: true })
  await rm(readyFile, { force: true })
  const log = await open(logFile, 'a', 0o600)
  const { size: logBegin } = await log.stat()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => log.close())
  const child = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [SMALL_YOUNG_GENERATION, join(root, 'services', name, 'src', 'main.ts')],
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
  let hasEnded = false
  void child.exited.then(() => {
    hasEnded = true
  })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= stopService(child))
  const giveUpAt = Date.now() + READY_LIMIT_MS
  while (!hasEnded && Date.now() < giveUpAt) {
    const text = await readFile(readyFile, 'utf8').catch(() => undefined)
    if (text !== undefined) {
      const { url } = ReadyFile.parse(JSON.parse(text))
      const { pid } = child
      const health = (signal: AbortSignal): Promise<Health | undefined> =>
        probeHealth({ url, pid }, signal)
      return { name, pid, url, process: child, health, stop }
    }
    await delay(15)
  }
  await stop()
  throw new Error(
    `${name} did not start:\n${await endOf(logFile, logBegin)}\n(all of it in ${logFile})`,
  )
}

/** SIGINT, unlike SIGTERM, does not wait for a successor; a second signal would end it at once. */
async function stopService(child: GuardedProcess): Promise<void> {
  child.beginStop()
  child.signal('SIGINT')
  const late = setTimeout(() => child.signal('SIGKILL'), STOP_GRACE_MS)
  await child.gone
  clearTimeout(late)
}

/** The last lines of a log from an offset on, as a person reads them. */
async function endOf(logFile: string, begin: number): Promise<string> {
  const lines = (await readFile(logFile)).subarray(begin).toString().trimEnd().split('\n')
  return lines
    .slice(-3)
    .map((line) => `  ${lastWord(line).slice(0, 600)}`)
    .join('\n')
}

const LogLine = z.object({
  message: z.string(),
  err: z.object({ message: z.string() }).optional(),
})

function lastWord(line: string): string {
  try {
    const { message, err } = LogLine.parse(JSON.parse(line))
    return err === undefined || err.message === message ? message : `${message}: ${err.message}`
  } catch {
    // Written by something that does not log.
    return line
  }
}

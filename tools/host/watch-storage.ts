import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { askService } from './ask-service.ts'
import { freeBytes, LEAST_FREE_BYTES, megabytes } from './disk-space.ts'
import type { Say } from './keep-running.ts'

const LOOK_EVERY_MS = 2_000
const ANSWER_LIMIT_MS = 3_000
/** The pause between two restarts of nats-server, which doubles each time. */
const FIRST_RESTART_PAUSE_MS = 30_000
const LONGEST_RESTART_PAUSE_MS = 600_000

export interface WatchStorageOptions {
  /** The data folder of nats-server. */
  readonly folder: string
  /** The free space below which the services refuse new messages. */
  readonly minFreeBytes: number
  /** The URLs of the running services. */
  readonly urls: () => readonly string[]
  /** Restarts nats-server, since one whose disk was full stores nothing until then. */
  readonly restart: () => Promise<void>
  readonly say: Say
}

/** Reports when the disk fills up, and restarts a nats-server that has stopped storing, until disposed. */
export function watchStorage(options: WatchStorageOptions): AsyncDisposable {
  const stop = new AbortController()
  const watching = watch(options, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await watching
    },
  }
}

async function watch(
  { folder, minFreeBytes, urls, restart, say }: WatchStorageOptions,
  signal: AbortSignal,
): Promise<void> {
  let reported: string | undefined
  let restartPauseMs = FIRST_RESTART_PAUSE_MS
  let nextRestartAt = 0
  const tell = (state: string, words: string): void => {
    if (reported !== state) say('storage', words)
    reported = state
  }
  for (;;) {
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const free = await freeBytes(folder).catch(() => Infinity)
    const isFailing = await someFail(urls())
    const disk = `the disk at ${folder} has ${megabytes(free)} free`
    if (isFailing && free < LEAST_FREE_BYTES) {
      tell('full', `${disk}: nothing can be stored. Make room; nats-server is restarted then`)
    } else if (isFailing && Date.now() >= nextRestartAt) {
      reported = 'failing'
      say('storage', `nats-server stores nothing, and ${disk}: restarting it`)
      nextRestartAt = Date.now() + restartPauseMs
      restartPauseMs = Math.min(restartPauseMs * 2, LONGEST_RESTART_PAUSE_MS)
      await restart()
    } else if (free < minFreeBytes) {
      const floor = `STORE_MIN_FREE_MB=${Math.floor(minFreeBytes / 1024 / 1024)}`
      tell('low', `${disk}, less than ${floor}: new messages are refused until there is room`)
    } else if (!isFailing) {
      if (reported !== undefined) say('storage', `${disk}: messages are accepted again`)
      reported = undefined
      if (Date.now() >= nextRestartAt) restartPauseMs = FIRST_RESTART_PAUSE_MS
    }
  }
}

const NotReady = z.object({ part: z.literal('storage') })

/** Whether one of the services reports that its writes are not stored. */
async function someFail(urls: readonly string[]): Promise<boolean> {
  const fails = urls.map(async (url) => {
    try {
      const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
      return NotReady.safeParse(await askService(url, '/ready', limit)).success
    } catch {
      // The service is restarting or busy. The other services report the same storage.
      return false
    }
  })
  return (await Promise.all(fails)).includes(true)
}

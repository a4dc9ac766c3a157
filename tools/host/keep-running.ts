import { setTimeout as delay } from 'node:timers/promises'
import type { GuardedProcess } from 'mcp-host/process'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

/** Tells a person what happens: about what, and what. */
export type Say = (about: string, what: string) => void

interface Startable {
  readonly process: GuardedProcess
  stop(): Promise<void>
}

export interface KeepOptions<T> {
  readonly name: string
  readonly start: () => Promise<T>
  /** Told of every process that took the place of a dead one. */
  readonly onRestart: (current: T) => void
  readonly say: Say
}

export interface Kept<T> extends AsyncDisposable {
  readonly first: T
}

/** Starts a process, and another one whenever it ends, until disposed. Throws when the first fails. */
export async function keepRunning<T extends Startable>(options: KeepOptions<T>): Promise<Kept<T>> {
  const { name, start, onRestart, say } = options
  const stopping = new AbortController()
  const first = await start()
  let current = first
  const keeper = keep()

  async function keep(): Promise<void> {
    for (;;) {
      const { code, signal } = await current.process.gone
      if (stopping.signal.aborted) return
      say(name, `ended (${signal ?? `exit code ${code}`}), starting it again`)
      const next = await startAgain()
      if (next === undefined) return
      current = next
      // Stopping began while it was starting.
      if (stopping.signal.aborted) return
      say(name, 'runs again')
      onRestart(next)
    }
  }

  async function startAgain(): Promise<T | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return undefined
      try {
        return await start()
      } catch (error) {
        say(name, error instanceof Error ? error.message : String(error))
      }
    }
  }

  return {
    first,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await current.stop()
      await keeper
      // A start that was under way when we began to stop.
      await current.stop()
    },
  }
}

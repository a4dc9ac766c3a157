import type { GuardedProcess } from '@mcp-host/process'
import type { Health } from './watch-health.ts'
import { watchHealth } from './watch-health.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

/** Reports an event to a person: its subject and the event. */
export type Say = (about: string, what: string) => void

interface Startable {
  readonly process: GuardedProcess
  /** Returns the health of the process, if it can be asked. */
  readonly health?: (signal: AbortSignal) => Promise<Health | undefined>
  stop(): Promise<void>
}

export interface KeepOptions<T> {
  readonly name: string
  readonly start: () => Promise<T>
  /** Whether a successor can start while the previous process still works. Default `true`. */
  readonly canOverlap?: boolean
  /** Called with every process that replaces another one. */
  readonly onRestart: (current: T) => void
  readonly say: Say
}

export interface Kept<T> extends AsyncDisposable {
  readonly first: T
}

/**
 * Starts a process, and a successor whenever it ends, is told to stop or does not answer, until disposed. The successor
 * of a process that was told to stop starts first. Throws when the first start fails.
 */
export async function keepRunning<T extends Startable>(options: KeepOptions<T>): Promise<Kept<T>> {
  const { name, start, canOverlap = true, onRestart, say } = options
  const stopping = new AbortController()
  const first = await start()
  let current = first
  /** Processes that complete their work beside their successors. */
  const leaving = new Set<Promise<void>>()
  const keeper = keep()

  async function keep(): Promise<void> {
    for (;;) {
      const isLeaving = (await endOf(current)) === 'told to stop'
      if (stopping.signal.aborted) return
      const before = current
      if (isLeaving && !canOverlap) leave(before)
      const next = await startAgain(isLeaving ? 0 : FIRST_PAUSE_MS)
      if (next === undefined) return
      current = next
      // The stop began during this start.
      if (stopping.signal.aborted) return
      say(name, 'runs again')
      onRestart(next)
      if (isLeaving && canOverlap) leave(before)
    }
  }

  /** Resolves when a process needs a successor. */
  async function endOf({ process, health }: T): Promise<'gone' | 'told to stop'> {
    const stopRequest = Promise.withResolvers<'told to stop'>()
    using _watch =
      health &&
      watchHealth({
        probe: health,
        onStopping: () => stopRequest.resolve('told to stop'),
        onFrozen() {
          say(name, `process ${process.pid} does not answer /health, SIGTERM sent`)
          process.signal('SIGTERM')
        },
        onStuck() {
          say(name, `process ${process.pid} does not answer SIGTERM either, SIGKILL sent`)
          process.signal('SIGKILL')
        },
      })
    const why = await Promise.race([process.gone, stopRequest.promise])
    if (stopping.signal.aborted) return 'gone'
    if (why === 'told to stop') {
      say(name, 'was told to stop, starting its successor')
      return why
    }
    say(name, `ended (${why.signal ?? `exit code ${why.code}`}), starting it again`)
    return 'gone'
  }

  function leave(process: T): void {
    const left = process
      .stop()
      .catch((error: unknown) => say(name, String(error)))
      .finally(() => void leaving.delete(left))
    leaving.add(left)
  }

  async function startAgain(firstPauseMs: number): Promise<T | undefined> {
    for (
      let pauseMs = firstPauseMs;
      ;
      pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
    ) {
      await pause(pauseMs, stopping.signal)
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
      await Promise.all([current.stop(), ...leaving])
      await keeper
      // A start that was in flight may have replaced `current`.
      await current.stop()
    },
  }
}

/** Sleeps, and resolves early on abort. Unlike `node:timers/promises` it uses the timers that tests replace. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer))
}

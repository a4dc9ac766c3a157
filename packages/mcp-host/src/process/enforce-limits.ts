import type { ResourceLimits } from '../config/mcp-config.ts'
import type { Logger } from '../logger.ts'
import { CpuBudget } from './cpu-budget.ts'
import type { ProcessRow } from './process-table.ts'
import type { Measure } from './resource-watch.ts'
import type { GuardedProcess } from './spawn-guarded.ts'

export interface EnforceDeps {
  readonly logger: Logger
  /** Told, just before the process is killed, why: `used 612 MB, more than its limit of 512 MB`. */
  readonly onExceeded?: (reason: string) => void
  /** Default: the present platform. */
  readonly platform?: NodeJS.Platform
}

const MEGABYTE = 1_000_000

/**
 * Holds a process, with all that it starts, to its limits until it ends: too much memory kills it,
 * too much CPU pauses it now and then. The pauses end when its stop begins, or with the disposal.
 *
 * Only on Linux; elsewhere a warning is all that happens.
 */
export function enforceLimits(
  child: GuardedProcess,
  { memoryBytes = Number.POSITIVE_INFINITY, cpuPercent }: ResourceLimits,
  { logger, onExceeded, platform = process.platform }: EnforceDeps,
): Disposable {
  if (platform !== 'linux') {
    logger.warn({ pid: child.pid, platform }, 'limits of memory and CPU are enforced only on Linux')
    return { [Symbol.dispose]: () => undefined }
  }
  const budget = cpuPercent === undefined ? undefined : new CpuBudget(cpuPercent)
  const pauses = new Pauses(child)
  let isKilled = false

  const onMeasure = ({ members, usedCpuMs, elapsedMs, residentBytes }: Measure): void => {
    if (isKilled) return
    if (residentBytes > memoryBytes) {
      isKilled = true
      const reason = `used ${megabytes(residentBytes)}, more than its limit of ${megabytes(memoryBytes)}`
      logger.error({ pid: child.pid, residentBytes, memoryBytes }, `server process ${reason}`)
      onExceeded?.(reason)
      child.signal('SIGKILL')
    } else if (budget !== undefined && !child.stopping.aborted) {
      pauses.set(!budget.spend(usedCpuMs, elapsedMs), members)
    }
  }

  const watch = child.resources.watch(child, onMeasure)
  // Not a DisposableStack, which Node 22 does not have.
  const end = (): void => {
    watch[Symbol.dispose]()
    pauses.end()
  }
  child.stopping.addEventListener('abort', () => pauses.end(), { once: true })
  void child.exited.then(end)
  return { [Symbol.dispose]: end }
}

/** Stops and continues the processes of a family. */
class Pauses {
  readonly #child: GuardedProcess
  #isPaused = false
  #strays: readonly number[] = []

  constructor(child: GuardedProcess) {
    this.#child = child
  }

  set(isPaused: boolean, members: readonly ProcessRow[]): void {
    // Processes found since the pause began are stopped, too.
    if (isPaused || this.#isPaused) this.#strays = straysOf(this.#child, members)
    if (isPaused) this.#signal('SIGSTOP')
    else if (this.#isPaused) this.#signal('SIGCONT')
    this.#isPaused = isPaused
  }

  end(): void {
    if (this.#isPaused) this.#signal('SIGCONT')
    this.#isPaused = false
  }

  #signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.signal(signal)
    for (const pid of this.#strays) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended since.
      }
    }
  }
}

function straysOf(child: GuardedProcess, members: readonly ProcessRow[]): number[] {
  return members.filter(({ group }) => group !== child.pid).map(({ pid }) => pid)
}

/** Rounded up, so that what is more than a limit also looks like more. */
function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEGABYTE)} MB`
}

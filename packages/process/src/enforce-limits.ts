import type { Logger } from './logger.ts'
import { CpuBudget } from './cpu-budget.ts'
import type { ProcessRow } from './process-table.ts'
import type { Measure } from './resource-watch.ts'
import type { GuardedProcess } from './spawn-guarded.ts'

export interface ResourceLimits {
  /** Limit for the resident memory. A process that exceeds it is killed. */
  readonly memoryBytes?: number
  /** Limit for the CPU, in per cent of one core. A process that exceeds it is paused. 200 is two whole cores. */
  readonly cpuPercent?: number
}

export interface EnforceDeps {
  readonly logger: Logger
  /** Called before the process is killed, with a reason such as `used 612 MB, more than its limit of 512 MB`. */
  readonly onExceeded?: (reason: string) => void
  /** Default: the present platform. */
  readonly platform?: NodeJS.Platform
}

const MEGABYTE = 1_000_000

/**
 * Enforces the limits of a process and its descendants until it ends: too much memory kills the process, too much CPU
 * pauses it. Pauses end when the stop of the process begins, or with the disposal. Works only on Linux; elsewhere it
 * logs a warning.
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

/** Pauses and continues the processes of a family. */
class Pauses {
  readonly #child: GuardedProcess
  #isPaused = false
  #strays: readonly number[] = []

  constructor(child: GuardedProcess) {
    this.#child = child
  }

  set(isPaused: boolean, members: readonly ProcessRow[]): void {
    // Processes that were found during a pause are stopped, too.
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
        // The process has ended meanwhile.
      }
    }
  }
}

function straysOf(child: GuardedProcess, members: readonly ProcessRow[]): number[] {
  return members.filter(({ group }) => group !== child.pid).map(({ pid }) => pid)
}

/** Rounded up, so that an exceeded limit also looks exceeded. */
function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEGABYTE)} MB`
}

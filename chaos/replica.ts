import type { SmallDisk } from '@mcp-host/testkit'
import type { GuardedProcess } from '@mcp-host/process'
import type { Violation } from './check/violation.ts'
import type { ProcessFault } from './faults.ts'
import { ROLLING } from './faults.ts'

/** Limit for SIGTERM. A service drains for up to 25 s and ends within 30 s. */
const TERM_LIMIT_MS = 32_000
/** Pause before the restart of a nats-server whose disk was full. */
const RESTART_PAUSE_MS = 200

type Disk = Pick<SmallDisk, 'fill' | 'free'>

/** A process, or the container of one. */
export interface Victim extends Pick<GuardedProcess, 'exited' | 'gone'> {
  /** Resolves when the signal was sent. */
  signal(signal: NodeJS.Signals): unknown
}

/** A process of a service that is restarted when it ends. */
export class Replica {
  readonly name: string
  readonly violations: Violation[] = []
  readonly #start: () => Promise<Victim>
  #process: Victim
  #mayEnd = false
  /** The restart after the process ended by itself. */
  #restarting: Promise<void> | undefined
  readonly #disk: Disk | undefined

  private constructor(
    name: string,
    start: () => Promise<Victim>,
    first: Victim,
    disk: Disk | undefined,
  ) {
    this.name = name
    this.#disk = disk
    this.#start = start
    this.#process = first
    this.#watch()
  }

  /** `disk`: the disk of its data, if it can be filled. */
  static async start(name: string, start: () => Promise<Victim>, disk?: Disk): Promise<Replica> {
    return new Replica(name, start, await start(), disk)
  }

  /**
   * Injects a fault. Resolves when the process works again. `whileDown` runs before the restart of an ended process.
   */
  async inject(
    { kind, downMs }: Pick<ProcessFault, 'kind' | 'downMs'>,
    whileDown?: () => Promise<void>,
  ): Promise<void> {
    await this.#restarting
    const victim = this.#process
    if (kind === 'stop') {
      await victim.signal('SIGSTOP')
      await pause(downMs)
      await victim.signal('SIGCONT')
      return
    }
    if (kind === 'disk-full') {
      await this.#disk?.fill()
      await pause(downMs)
      await this.#disk?.free()
      // As the starter does: after a full disk nats-server stores nothing until it is restarted.
      return this.inject({ kind: 'term', downMs: RESTART_PAUSE_MS })
    }
    this.#mayEnd = true
    if (kind === ROLLING) {
      await victim.signal('SIGTERM')
      await this.#restart()
      // The signal by which the starter reports that the successor is ready.
      await victim.signal('SIGINT')
      return this.#end(victim)
    }
    await victim.signal(kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
    await this.#end(victim)
    await pause(downMs)
    await whileDown?.()
    await this.#restart()
  }

  async #end(victim: Victim): Promise<void> {
    if (!(await isLate(victim.gone))) return
    this.#report('does not stop', `SIGTERM did not end it within ${TERM_LIMIT_MS} ms`)
    await victim.signal('SIGKILL')
    await victim.gone
  }

  /** Allows the process to end without a restart. */
  release(): void {
    this.#mayEnd = true
  }

  async #restart(): Promise<void> {
    try {
      this.#process = await this.#start()
    } catch (error) {
      // The next fault starts it.
      this.#report('does not start', String(error))
      return
    }
    this.#mayEnd = false
    this.#watch()
  }

  #watch(): void {
    const watched = this.#process
    void watched.exited.then(({ code, signal }) => {
      if (this.#mayEnd || watched !== this.#process) return
      this.#report('ended by itself', signal ?? `exit code ${code}`)
      this.#mayEnd = true
      this.#restarting = watched.gone.then(() => this.#restart())
    })
  }

  #report(rule: string, detail: string): void {
    this.violations.push({ rule, where: this.name, detail })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

async function isLate(gone: Promise<unknown>): Promise<boolean> {
  using timer = new DisposableStack()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  timer.adopt(setTimeout(resolve, TERM_LIMIT_MS, true), clearTimeout)
  // Awaited here, because the timer is cleared on return.
  return await Promise.race([gone.then(() => false), promise])
}

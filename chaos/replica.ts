import type { SmallDisk } from '@mcp-host/testkit'
import type { GuardedProcess } from 'mcp-host/process'
import type { Violation } from './check/violation.ts'
import type { ProcessFault } from './faults.ts'
import { ROLLING } from './faults.ts'

/** How long a process may take to end by SIGTERM: a service drains for up to 25 s and is gone after 30. */
const TERM_LIMIT_MS = 32_000

/** From the end of a nats-server whose disk was full to its next start. */
const RESTART_PAUSE_MS = 200

type Disk = Pick<SmallDisk, 'fill' | 'free'>

/** One process of a service that is started again when it ends, as a keeper would. */
export class Replica {
  readonly name: string
  readonly violations: Violation[] = []
  readonly #start: () => Promise<GuardedProcess>
  #process: GuardedProcess
  #mayEnd = false
  /** Being started again after an end of its own. */
  #reviving: Promise<void> | undefined

  readonly #disk: Disk | undefined

  private constructor(
    name: string,
    start: () => Promise<GuardedProcess>,
    first: GuardedProcess,
    disk: Disk | undefined,
  ) {
    this.name = name
    this.#disk = disk
    this.#start = start
    this.#process = first
    this.#watch()
  }

  /** `disk`: where it keeps its data, when that can be filled. */
  static async start(
    name: string,
    start: () => Promise<GuardedProcess>,
    disk?: Disk,
  ): Promise<Replica> {
    return new Replica(name, start, await start(), disk)
  }

  /**
   * Does a fault and what follows it; resolves when the process is at work again. `whileDown` runs before an ended
   * process is started again.
   */
  async suffer(
    { kind, downMs }: Pick<ProcessFault, 'kind' | 'downMs'>,
    whileDown?: () => Promise<void>,
  ): Promise<void> {
    await this.#reviving
    const victim = this.#process
    if (kind === 'stop') {
      victim.signal('SIGSTOP')
      await pause(downMs)
      victim.signal('SIGCONT')
      return
    }
    if (kind === 'disk-full') {
      await this.#disk?.fill()
      await pause(downMs)
      await this.#disk?.free()
      // As the starter does: a nats-server whose disk was full stores nothing until it is restarted.
      return this.suffer({ kind: 'term', downMs: RESTART_PAUSE_MS })
    }
    this.#mayEnd = true
    if (kind === ROLLING) {
      victim.signal('SIGTERM')
      await this.#revive()
      // As the starter tells a process that its successor is ready.
      victim.signal('SIGINT')
      return this.#end(victim)
    }
    victim.signal(kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
    await this.#end(victim)
    await pause(downMs)
    await whileDown?.()
    await this.#revive()
  }

  async #end(victim: GuardedProcess): Promise<void> {
    if (!(await isLate(victim.gone))) return
    this.#report('does not stop', `SIGTERM did not end it within ${TERM_LIMIT_MS} ms`)
    victim.signal('SIGKILL')
    await victim.gone
  }

  /** From here on it may end and stays so. */
  release(): void {
    this.#mayEnd = true
  }

  async #revive(): Promise<void> {
    try {
      this.#process = await this.#start()
    } catch (error) {
      // The next fault that strikes it tries again.
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
      this.#reviving = watched.gone.then(() => this.#revive())
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
  // Awaited here: the timer is to run until then.
  return await Promise.race([gone.then(() => false), promise])
}

import { rssMb } from '../process-usage.ts'

/** Short enough to see the memory that one large message takes. */
const PERIOD_MS = 100

/** Watches the resident memory of processes. */
export class MemoryWatch implements Disposable {
  readonly #pids: Readonly<Record<string, number>>
  readonly #before: Record<string, number>
  readonly #peak: Record<string, number>
  readonly #timer: NodeJS.Timeout

  /** `pids`: process ids by name. */
  constructor(pids: Readonly<Record<string, number>>) {
    this.#pids = pids
    this.#before = this.#read()
    this.#peak = { ...this.#before }
    this.#timer = setInterval(() => {
      for (const [name, mb] of Object.entries(this.#read())) {
        this.#peak[name] = Math.max(mb, this.#peak[name] ?? 0)
      }
    }, PERIOD_MS)
  }

  /** Memory in megabytes: when the watch began, the maximum since then, and at this moment. */
  figures(): Record<string, { before: number; peak: number; after: number }> {
    const after = this.#read()
    return Object.fromEntries(
      Object.keys(this.#pids).map((name) => {
        const [before = 0, peak = 0, now = 0] = [this.#before, this.#peak, after].map(
          (each) => each[name],
        )
        return [name, { before, peak, after: now }]
      }),
    )
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #read(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.#pids).map(([name, pid]) => [name, rssMb(pid)]))
  }
}

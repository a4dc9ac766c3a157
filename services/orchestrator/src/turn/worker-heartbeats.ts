import type { Bus } from '@mcp-host/bus'
import type { GenerationId } from '@mcp-host/contracts'
import { runningGenerations } from '@mcp-host/contracts'

/** A generation counts as running for this time after a heartbeat. Workers send four a second. */
const FRESH_MS = 750

interface Word {
  readonly generations: ReadonlySet<GenerationId>
  /** The time of the heartbeat, by `performance.now()`. */
  readonly at: number
}

/** The generations that workers reported in their last heartbeats. */
export class WorkerHeartbeats implements Disposable {
  /** The last heartbeat of each worker. */
  readonly #words = new Map<string, Word>()
  readonly #listening: Disposable

  constructor(bus: Pick<Bus, 'listen'>) {
    this.#listening = bus.listen(runningGenerations, {}, ({ worker, generations }) => {
      const at = performance.now()
      this.#words.set(worker, { generations: new Set(generations), at })
      for (const [other, word] of this.#words) {
        if (at - word.at > FRESH_MS) this.#words.delete(other)
      }
    })
  }

  /** The remaining milliseconds for which a generation counts as running; 0 when no recent heartbeat has it. */
  freshMs(generation: GenerationId): number {
    const now = performance.now()
    const left = this.#words
      .values()
      .filter(({ generations }) => generations.has(generation))
      .map(({ at }) => at + FRESH_MS - now)
    return Math.max(0, ...left)
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }
}

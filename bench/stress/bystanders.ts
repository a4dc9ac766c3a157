import { Worker } from 'node:worker_threads'
import type { TimedTurn } from '../timed-chat.ts'

export interface BystanderSetup {
  /** URL of the gateway. */
  readonly url: string
  readonly sessions: number
}

export type BystanderTurn = Pick<TimedTurn, 'at' | 'firstText' | 'turn'>

/** Sessions that chat at a steady rate, in a separate thread: work of the benchmark itself does not delay them. */
export class Bystanders implements AsyncDisposable {
  readonly turns: BystanderTurn[] = []
  readonly faults: string[] = []
  readonly #worker: Worker

  constructor(setup: BystanderSetup) {
    this.#worker = new Worker(new URL('./bystander-worker.ts', import.meta.url), {
      workerData: setup,
    })
    this.#worker.on('message', (turn: BystanderTurn) => this.turns.push(turn))
    this.#worker.on('error', (error) => this.faults.push(String(error)))
  }

  /** The turns that began within a time. */
  between(begin: number, end: number): BystanderTurn[] {
    return this.turns.filter(({ at }) => at >= begin && at < end)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

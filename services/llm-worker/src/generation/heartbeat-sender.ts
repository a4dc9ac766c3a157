import type { Bus } from '@mcp-host/bus'
import type { GenerationId } from '@mcp-host/contracts'
import { runningGenerations } from '@mcp-host/contracts'

const TELL_MS = 250
/** The number of ids that fit into one message. An orchestrator pings the other generations. */
const MAX_TOLD = 5_000

/** Sends a periodic heartbeat with the running generations to all orchestrators, while there are any. */
export class HeartbeatSender {
  readonly #bus: Pick<Bus, 'id' | 'emit'>
  readonly #generations = new Set<GenerationId>()
  #timer: NodeJS.Timeout | undefined

  constructor(bus: Pick<Bus, 'id' | 'emit'>) {
    this.#bus = bus
  }

  /** Includes a generation in the heartbeats until the result is disposed. */
  add(generation: GenerationId): Disposable {
    this.#generations.add(generation)
    this.#timer ??= setInterval(() => this.#tell(), TELL_MS)
    return { [Symbol.dispose]: () => this.#remove(generation) }
  }

  #remove(generation: GenerationId): void {
    this.#generations.delete(generation)
    if (this.#generations.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tell(): void {
    const generations = Array.from(this.#generations).slice(0, MAX_TOLD)
    this.#bus.emit(runningGenerations, {}, { worker: this.#bus.id, generations })
  }
}

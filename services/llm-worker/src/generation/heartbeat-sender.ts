import type { Bus } from '@mcp-host/bus'
import type { GenerationId } from '@mcp-host/contracts'
import { runningGenerations } from '@mcp-host/contracts'

const TELL_MS = 250
/** The number that fits a message of the broker; an orchestrator pings for the others. */
const MAX_TOLD = 5_000

/** Tells all orchestrators which generations run here, as long as there are any. */
export class HeartbeatSender {
  readonly #bus: Pick<Bus, 'id' | 'emit'>
  readonly #generations = new Set<GenerationId>()
  #timer: NodeJS.Timeout | undefined

  constructor(bus: Pick<Bus, 'id' | 'emit'>) {
    this.#bus = bus
  }

  /** It runs until disposed. */
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

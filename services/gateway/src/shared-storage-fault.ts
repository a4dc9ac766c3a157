import type { Bus } from '@mcp-host/bus'
import { storageFault } from '@mcp-host/contracts'

/** Three times the interval at which processes tell of their fault. */
const KEPT_MS = 6_000

/** The storage fault of other processes, since a gateway to which nobody writes sees none by itself. */
export class SharedStorageFault implements Disposable {
  readonly #listening: Disposable
  #fault: string | undefined
  #heardAt = -Infinity

  constructor(bus: Pick<Bus, 'listen'>) {
    this.#listening = bus.listen(storageFault, {}, ({ fault }) => {
      this.#fault = fault
      this.#heardAt = performance.now()
    })
  }

  current(): string | undefined {
    return performance.now() - this.#heardAt < KEPT_MS ? this.#fault : undefined
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }
}

/** Counts work in flight, so that a drain can wait for it. */
export class InFlight {
  #count = 0
  #ended: PromiseWithResolvers<void> | undefined

  get count(): number {
    return this.#count
  }

  /** Something is under way until disposed. */
  begin(): Disposable {
    this.#count++
    return new Part(this.#end)
  }

  readonly #end = (): void => {
    if (--this.#count > 0) return
    this.#ended?.resolve()
    this.#ended = undefined
  }

  /** Resolves once nothing is. */
  async idle(): Promise<void> {
    while (this.#count > 0) await (this.#ended ??= Promise.withResolvers()).promise
  }
}

class Part implements Disposable {
  readonly #end: () => void

  constructor(end: () => void) {
    this.#end = end
  }

  [Symbol.dispose](): void {
    this.#end()
  }
}

/** Counts work in flight, so that a drain can wait for it. */
export class InFlight {
  #count = 0
  #idle: PromiseWithResolvers<void> | undefined

  get count(): number {
    return this.#count
  }

  /** Counts one more piece of work until the result is disposed. */
  begin(): Disposable {
    this.#count++
    return { [Symbol.dispose]: this.#end }
  }

  readonly #end = (): void => {
    if (--this.#count > 0) return
    this.#idle?.resolve()
    this.#idle = undefined
  }

  /** Resolves once nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#count > 0) await (this.#idle ??= Promise.withResolvers()).promise
  }
}

/** Tells the latest of several requests, so that a slow answer to an earlier one is ignored. */
export class Latest {
  #count = 0

  /** Begins a request. The result says whether no later one has begun. */
  begin(): () => boolean {
    this.#count += 1
    const own = this.#count
    return () => own === this.#count
  }
}

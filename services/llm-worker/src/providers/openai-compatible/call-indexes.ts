/** A piece of a tool call. */
interface CallPiece {
  readonly index?: number | undefined
  readonly id?: string | null | undefined
  readonly function: { readonly name?: string | null | undefined }
}

/**
 * The indexes of the tool calls of one answer. The package joins pieces by them, in any order, but some servers
 * leave them out.
 */
export class CallIndexes {
  readonly #byId = new Map<string, number>()
  readonly #identified = new Set<number>()
  readonly #named = new Set<number>()
  #last: number | undefined
  #next = 0

  /** The piece with the index of its call. */
  place<Piece extends CallPiece>(piece: Piece): Piece {
    const { name } = piece.function
    const id = piece.id || undefined
    const index = piece.index ?? this.#find(id, name != null)
    this.#last = index
    this.#next = Math.max(this.#next, index + 1)
    if (id !== undefined) {
      this.#identified.add(index)
      if (!this.#byId.has(id)) this.#byId.set(id, index)
    }
    if (name != null) this.#named.add(index)
    return { ...piece, index }
  }

  #find(id: string | undefined, hasName: boolean): number {
    const known = id === undefined ? undefined : this.#byId.get(id)
    if (known !== undefined) return known
    const last = this.#last
    const isOther =
      last === undefined ||
      (hasName && this.#named.has(last)) ||
      (id !== undefined && this.#identified.has(last))
    return isOther ? this.#next : last
  }
}

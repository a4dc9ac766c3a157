/** An entry of the linked list. */
export interface Position<Value> {
  readonly value: Value
  previous: Position<Value> | undefined
  next: Position<Value> | undefined
}

/** A first in, first out queue as a linked list: entries leave from the middle at constant cost. */
export class WaitingLine<Value> {
  first: Position<Value> | undefined
  #last: Position<Value> | undefined

  join(value: Value): Position<Value> {
    const position: Position<Value> = { value, previous: this.#last, next: undefined }
    if (this.#last === undefined) this.first = position
    else this.#last.next = position
    this.#last = position
    return position
  }

  /** Removes a position of this queue; once. */
  leave({ previous, next }: Position<Value>): void {
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
  }
}

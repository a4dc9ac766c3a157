/** One place in a line; it knows its neighbours, so that it can leave from anywhere at once. */
export interface Place<Value> {
  readonly value: Value
  previous: Place<Value> | undefined
  next: Place<Value> | undefined
}

/** First in, first out; an entry leaves from the middle at constant cost. */
export class WaitingLine<Value> {
  #first: Place<Value> | undefined
  #last: Place<Value> | undefined

  get first(): Place<Value> | undefined {
    return this.#first
  }

  join(value: Value): Place<Value> {
    const place: Place<Value> = { value, previous: this.#last, next: undefined }
    if (this.#last === undefined) this.#first = place
    else this.#last.next = place
    this.#last = place
    return place
  }

  /** The place must be in this line, and leaves it once. */
  leave({ previous, next }: Place<Value>): void {
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
  }
}

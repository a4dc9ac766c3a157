/** Finds the end of a JSON object that arrives in pieces. Each character is read once. */
export class ObjectText {
  readonly #pieces: string[] = []
  #depth = 0
  #isString = false
  #isEscaped = false

  get text(): string {
    return this.#pieces.join('')
  }

  /** Adds text of the object. Returns the text after its last bracket, once that has arrived. */
  take(text: string): string | undefined {
    for (let at = 0; at < text.length; at++) {
      if (!this.#isLast(text[at])) continue
      this.#pieces.push(text.slice(0, at + 1))
      return text.slice(at + 1)
    }
    this.#pieces.push(text)
    return undefined
  }

  #isLast(char: string | undefined): boolean {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isString && char === '\\') this.#isEscaped = true
    else if (char === '"') this.#isString = !this.#isString
    else if (this.#isString) return false
    else if (char === '{' || char === '[') this.#depth++
    else if (char === '}' || char === ']') return --this.#depth === 0
    return false
  }
}

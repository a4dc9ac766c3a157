import type { ConfigFault } from '../errors/configuration-error.ts'

/** Gathers the faults of one file and knows the line and column of an offset in its text. */
export class FaultList {
  readonly #file: string
  readonly #lineStarts: readonly number[]
  readonly #faults = new Map<string, Required<ConfigFault>>()

  constructor(file: string, text: string) {
    this.#file = file
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), endOf)]
  }

  get count(): number {
    return this.#faults.size
  }

  /** The first fault of a field at a place is the cause of any more, which are dropped. */
  add(offset: number, path: string, message: string, remedy: string): void {
    const key = `${offset} ${path}`
    if (this.#faults.has(key)) return
    const line = this.#lineStarts.findLastIndex((start) => start <= offset)
    const column = offset - (this.#lineStarts[line] ?? 0)
    const where = { file: this.#file, line: line + 1, column: column + 1 }
    this.#faults.set(key, { ...where, path, message, remedy })
  }

  /** In the order of the file. */
  sorted(): readonly ConfigFault[] {
    return [...this.#faults.values()].toSorted((a, b) => a.line - b.line || a.column - b.column)
  }
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length
}

import type { ConfigFault } from '../errors/configuration-error.ts'

/** Gathers the faults of one file and knows the line and column of an offset in its text. */
export class FaultList {
  readonly #file: string
  readonly #lineStarts: readonly number[]
  readonly #faults: Required<ConfigFault>[] = []

  constructor(file: string, text: string) {
    this.#file = file
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), endOf)]
  }

  get count(): number {
    return this.#faults.length
  }

  add(offset: number, path: string, message: string, remedy: string): void {
    const line = this.#lineStarts.findLastIndex((start) => start <= offset)
    const column = offset - (this.#lineStarts[line] ?? 0)
    const where = { file: this.#file, line: line + 1, column: column + 1 }
    this.#faults.push({ ...where, path, message, remedy })
  }

  /** In the order of the file. */
  sorted(): readonly ConfigFault[] {
    return this.#faults.toSorted((a, b) => a.line - b.line || a.column - b.column)
  }
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length
}

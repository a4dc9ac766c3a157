import type { ConfigFault } from './configuration-error.ts'

export interface FaultListOptions {
  readonly file?: string | undefined
  /** Whether faults have a line and column, which an object does not have. */
  readonly hasLines: boolean
  /** Whether `tolerate` adds faults. */
  readonly isStrict: boolean
}

/** Collects the faults and warnings of one text, with their lines and columns. */
export class FaultList {
  readonly #options: FaultListOptions
  readonly #lineStarts: readonly number[]
  readonly #faults = new Map<string, LocatedFault>()
  readonly #warnings = new Map<string, LocatedFault>()
  /** Paths in the file, by the paths of translated fields. */
  readonly #paths = new Map<string, string>()
  #reported = 0

  constructor(text: string, options: FaultListOptions) {
    this.#options = options
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), endOf)]
  }

  get count(): number {
    return this.#faults.size
  }

  /** The number of faults that were added, also of those that were dropped. */
  get reported(): number {
    return this.#reported
  }

  get isStrict(): boolean {
    return this.#options.isStrict
  }

  /** Adds a fault. Later faults of the same field at the same offset follow from the first, and are dropped. */
  add(offset: number, path: string, message: string, remedy: string): void {
    this.#put(this.#faults, offset, { path, message, remedy })
  }

  /** Adds a warning; in strict mode a fault. */
  tolerate(offset: number, path: string, message: string, remedy: string): void {
    const list = this.isStrict ? this.#faults : this.#warnings
    this.#put(list, offset, { path, message, remedy })
  }

  /** Gives a field and the fields below it the path of another field in later faults. */
  rename(path: string, pathInFile: string): void {
    if (path !== pathInFile) this.#paths.set(path, pathInFile)
  }

  /** Removes the faults in a part of the text, and returns them. */
  takeWithin({ offset, length }: Range): readonly ConfigFault[] {
    const found = new Map(
      this.#faults
        .entries()
        .filter(([, fault]) => fault.offset >= offset && fault.offset < offset + length),
    )
    for (const key of found.keys()) this.#faults.delete(key)
    return sort(found)
  }

  /** The faults in the order of the text. */
  sorted(): readonly ConfigFault[] {
    return sort(this.#faults)
  }

  /** The warnings in the order of the text. */
  warnings(): readonly ConfigFault[] {
    return sort(this.#warnings)
  }

  #put(list: Map<string, LocatedFault>, offset: number, given: ConfigFault): void {
    if (list === this.#faults) this.#reported += 1
    const fault = { ...given, path: this.#pathInFile(given.path) }
    const key = `${offset} ${fault.path}`
    if (list.has(key)) return
    const { file, hasLines } = this.#options
    if (!hasLines) {
      list.set(key, { offset, fault })
      return
    }
    const line = this.#lineStarts.findLastIndex((start) => start <= offset)
    const column = offset - (this.#lineStarts[line] ?? 0)
    const place = { ...(file === undefined ? {} : { file }), line: line + 1, column: column + 1 }
    list.set(key, { offset, fault: { ...place, ...fault } })
  }

  /** The path in the file of a field, or of the nearest field around it that was renamed. */
  #pathInFile(path: string): string {
    if (this.#paths.size === 0) return path
    const steps = path.split(/(?=[.[])/)
    for (let count = steps.length; count > 0; count -= 1) {
      const found = this.#paths.get(steps.slice(0, count).join(''))
      if (found !== undefined) return found + steps.slice(count).join('')
    }
    return path
  }
}

/** A part of the text. */
export interface Range {
  readonly offset: number
  readonly length: number
}

interface LocatedFault {
  readonly offset: number
  readonly fault: ConfigFault
}

function sort(list: ReadonlyMap<string, LocatedFault>): readonly ConfigFault[] {
  return [...list.values()].toSorted((a, b) => a.offset - b.offset).map(({ fault }) => fault)
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length
}

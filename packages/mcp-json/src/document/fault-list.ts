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

  constructor(text: string, options: FaultListOptions) {
    this.#options = options
    this.#lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), endOf)]
  }

  get count(): number {
    return this.#faults.size
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

  #put(list: Map<string, LocatedFault>, offset: number, fault: ConfigFault): void {
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

import type { MessageLimits } from '../intake/message-limits.ts'

/** The approximate size of a number or a punctuation mark in JSON. */
const VALUE_BYTES = 4

interface Spent {
  bytes: number
  items: number
}

/** The size limits of all lists of one server together. */
export class ListBudget {
  readonly #limits: Pick<MessageLimits, 'listBytes' | 'listItems'>
  /** Sizes by list, as last read. */
  readonly #spent = new Map<string, Spent>()

  constructor(limits: Pick<MessageLimits, 'listBytes' | 'listItems'>) {
    this.#limits = limits
  }

  /** A list is read anew. */
  begin(list: string): void {
    this.#spent.set(list, { bytes: 0, items: 0 })
  }

  /** Takes one more item. Why the list has to end, as the rest of a sentence; undefined while it may go on. */
  add(list: string, bytes: number): string | undefined {
    const { listBytes, listItems } = this.#limits
    const spent = this.#of(list)
    spent.items += 1
    spent.bytes += bytes
    if (spent.items > listItems) return `it has more than ${listItems} items`
    let all = 0
    for (const each of this.#spent.values()) all += each.bytes
    return all > listBytes ? `the lists have more than ${listBytes} bytes together` : undefined
  }

  #of(list: string): Spent {
    const spent = this.#spent.get(list)
    if (spent === undefined) throw new Error(`the list "${list}" is not being read`)
    return spent
  }
}

/** About how many bytes a value has as JSON. */
export function weigh(value: unknown): number {
  let bytes = 0
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    bytes += VALUE_BYTES
    if (typeof next === 'string') {
      bytes += next.length
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, each] of Object.entries(next)) {
        bytes += Array.isArray(next) ? 0 : key.length + VALUE_BYTES
        left.push(each)
      }
    }
  }
  return bytes
}

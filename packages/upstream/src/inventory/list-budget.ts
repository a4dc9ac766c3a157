import type { MessageLimits } from '../intake/message-limits.ts'

/** The approximate size of a number or a punctuation mark in JSON. */
const VALUE_BYTES = 4

/** The size limits of all lists of one server together. */
export class ListBudget {
  readonly #limits: Pick<MessageLimits, 'listBytes' | 'listItems'>
  /** Sizes by list, as last read. */
  readonly #sizes = new Map<string, { bytes: number; items: number }>()

  constructor(limits: Pick<MessageLimits, 'listBytes' | 'listItems'>) {
    this.#limits = limits
  }

  /** Resets the size of a list that is read again. */
  begin(list: string): void {
    this.#sizes.set(list, { bytes: 0, items: 0 })
  }

  /** Adds an item. Returns the reason why the list has to end, if there is one. */
  add(list: string, bytes: number): string | undefined {
    const { listBytes, listItems } = this.#limits
    const size = this.#sizes.get(list)
    if (size === undefined) throw new Error(`the list "${list}" is not being read`)
    size.items += 1
    size.bytes += bytes
    if (size.items > listItems) return `it has more than ${listItems} items`
    let all = 0
    for (const each of this.#sizes.values()) all += each.bytes
    return all > listBytes ? `the lists have more than ${listBytes} bytes together` : undefined
  }
}

/** The approximate size of a value as JSON. */
export function weigh(value: unknown): number {
  let bytes = 0
  // No recursion, since the value may be nested deep.
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    bytes += VALUE_BYTES
    if (typeof next === 'string') {
      bytes += next.length
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, each] of Object.entries(next)) {
        bytes += Array.isArray(next) ? 0 : key.length + VALUE_BYTES
        rest.push(each)
      }
    }
  }
  return bytes
}

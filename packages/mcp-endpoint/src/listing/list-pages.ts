/** Limit for the JSON of one page: the same as for an answer of a server, so that nearly every list has one page. */
const MAX_PAGE_LENGTH = 64 * 1024 * 1024

/**
 * The pages of a list, each the inside of a JSON object: `"tools":[…],"nextCursor":"…"`. Many clients read only the
 * first page, so a second one is used only when the first is full.
 */
export class ListPages {
  /**
   * Pages by the index of their first item. Only these indexes are cursors, so that clients cannot request other pages.
   */
  readonly #pages = new Map<number, string>()

  constructor(name: string, items: readonly object[], maxLength = MAX_PAGE_LENGTH) {
    let start = 0
    let length = 0
    let page: string[] = []
    const end = (next: string): void => {
      this.#pages.set(start, `"${name}":[${page.join(',')}]${next}`)
      start += page.length
      length = 0
      page = []
    }
    for (const item of items) {
      const json = JSON.stringify(item)
      if (page.length > 0 && length + json.length > maxLength) {
        end(`,"nextCursor":"${cursorOf(start + page.length)}"`)
      }
      page.push(json)
      length += json.length
    }
    end('')
  }

  /** The page of a cursor; `undefined` when there is none. Some clients ask for the first page by an empty cursor. */
  page(cursor: string | undefined): string | undefined {
    const start = cursor === undefined || cursor === '' ? 0 : startOf(cursor)
    return start === undefined ? undefined : this.#pages.get(start)
  }
}

function cursorOf(start: number): string {
  return btoa(`at ${start}`)
}

function startOf(cursor: string): number | undefined {
  try {
    const [, start] = /^at ([1-9]\d{0,8})$/.exec(atob(cursor)) ?? []
    return start === undefined ? undefined : Number(start)
  } catch {
    // Not base64: not a cursor of this host.
    return undefined
  }
}

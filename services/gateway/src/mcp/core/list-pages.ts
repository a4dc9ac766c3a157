/** Characters of JSON on one page: as large as an answer of a server may be, so that nearly every list is one page. */
const MAX_PAGE_LENGTH = 64 * 1024 * 1024

/**
 * A list as the pages that clients get, each the inside of a JSON object: `"tools":[…],"nextCursor":"…"`. Many clients
 * read only the first page, so a second one begins only where the first cannot hold everything.
 */
export class ListPages {
  /** By the index of the first item: only these are cursors, so clients cannot have other pages made. */
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

  /** `undefined` when a cursor leads to no page. */
  page(cursor: string | undefined): string | undefined {
    const start = cursor === undefined ? 0 : startOf(cursor)
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

/** A position in a session's event stream, ordered by `seq`, `part` and `offset`. Clients see it as an opaque string. */
export interface Cursor {
  /** Log sequence of the last entry of which the client has an event. */
  readonly seq: number
  /** The number of events of that entry that the client has. */
  readonly part: number
  /** Fence of the running generation, if there was one. */
  readonly fence: number | undefined
  /** The length of that generation's text that the client has, in UTF-16 units. */
  readonly offset: number
}

const FORMAT = /^(\d{1,15})\.(\d{1,6})\.(\d{1,15}|-)\.(\d{1,12})$/

/** The cursor right after an entry of the log, without a running generation. */
export function cursorAfter(seq: number): Cursor {
  return { seq, part: 0, fence: undefined, offset: 0 }
}

export function formatCursor({ seq, part, fence, offset }: Cursor): string {
  return `${seq}.${part}.${fence ?? '-'}.${offset}`
}

/** The cursor in the id of an event; `undefined` for any other text. */
export function parseCursor(id: string): Cursor | undefined {
  const match = FORMAT.exec(id)
  if (match === null) return undefined
  const [, seq, part, fence, offset] = match
  return {
    seq: Number(seq),
    part: Number(part),
    fence: fence === '-' ? undefined : Number(fence),
    offset: Number(offset),
  }
}

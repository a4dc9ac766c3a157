/**
 * A place in a session's event stream. Ordered by `seq`, then `part`, then `offset`.
 * Clients see it as an opaque string.
 */
export interface Cursor {
  /** Last log sequence of which anything was seen. */
  readonly seq: number
  /** The number of events of that entry that the client has. */
  readonly part: number
  /** Fence of the generation that was being written, if one was. */
  readonly fence: number | undefined
  /** The length of that generation's text that the client has, in UTF-16 units. */
  readonly offset: number
}

const FORMAT = /^(\d{1,15})\.(\d{1,6})\.(\d{1,15}|-)\.(\d{1,12})$/

/** The place right after an entry of the log, when no text is being written. */
export function cursorAfter(seq: number): Cursor {
  return { seq, part: 0, fence: undefined, offset: 0 }
}

export function formatCursor({ seq, part, fence, offset }: Cursor): string {
  return `${seq}.${part}.${fence ?? '-'}.${offset}`
}

/** The cursor an event id stands for, or `undefined` when it is not one. */
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

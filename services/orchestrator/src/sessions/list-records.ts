import type { SessionRecord } from '@mcp-host/contracts'
import { BusError, LOCAL } from '@mcp-host/contracts'

/** The position of the end of a page. */
type Place = Pick<SessionRecord, 'updatedAt' | 'id'>

export interface ListedPage {
  readonly sessions: SessionRecord[]
  readonly next?: string
}

export interface ListQuery {
  readonly limit: number
  /** `next` of the previous page. */
  readonly before?: string | undefined
  /** A part of the title; case is ignored. */
  readonly title?: string | undefined
  /** A key that the metadata has, whatever its value. */
  readonly metadataKey?: string | undefined
  /** Whether the sessions of `LOCAL` are listed, too. */
  readonly withLocal?: boolean | undefined
}

/** The sessions of one owner, newest first. Throws `invalid` when `before` is not a cursor. */
export function listRecords(
  records: Iterable<SessionRecord>,
  owner: string,
  { limit, before, title = '', metadataKey, withLocal = false }: ListQuery,
): ListedPage {
  const place = before === undefined ? undefined : parsePlace(before)
  const words = title.toLowerCase()
  const found = Array.from(records)
    .filter((record) => record.owner === owner || (withLocal && record.owner === LOCAL.id))
    .filter((record) => record.state === 'active')
    .filter((record) => record.title.toLowerCase().includes(words))
    .filter(
      ({ metadata = {} }) => metadataKey === undefined || Object.hasOwn(metadata, metadataKey),
    )
    .filter((record) => place === undefined || compare(place, record) < 0)
    .toSorted(compare)
  const sessions = found.slice(0, limit)
  const last = sessions.at(-1)
  return last === undefined || found.length <= limit
    ? { sessions }
    : { sessions, next: formatPlace(last) }
}

function compare(one: Place, other: Place): number {
  if (one.updatedAt !== other.updatedAt) return other.updatedAt - one.updatedAt
  if (one.id === other.id) return 0
  return one.id < other.id ? -1 : 1
}

function formatPlace({ updatedAt, id }: Place): string {
  return Buffer.from(`${updatedAt} ${id}`).toString('base64url')
}

function parsePlace(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, updatedAt, id] = /^(\d+) ([A-Za-z0-9_-]{16,64})$/.exec(text) ?? []
  if (updatedAt === undefined || id === undefined) {
    const message = 'before: is not the "next" of a page of sessions'
    throw new BusError('invalid', message, { field: 'before' })
  }
  // The id is only compared, never used as a session.
  return { updatedAt: Number(updatedAt), id: id as SessionRecord['id'] }
}

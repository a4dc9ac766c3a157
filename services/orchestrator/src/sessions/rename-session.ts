import type { SessionDirectory } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { cleanTitle } from './clean-title.ts'
import { noSession, ownRecord } from './own-record.ts'
import { updateRecord } from './update-record.ts'

export interface Renaming {
  readonly title: string
  readonly principal: string
  /** Makes the session known when it is not. */
  readonly create: boolean
  /** Epoch milliseconds. */
  readonly now: number
}

/** Gives a session a title of its owner's. Throws `not-found`, or `invalid` when nothing of it can be read. */
export async function renameSession(
  directory: SessionDirectory,
  session: SessionId,
  { title: given, principal, create, now }: Renaming,
): Promise<SessionRecord> {
  const title = cleanTitle(given)
  if (title === '') {
    throw new BusError('invalid', 'title: must have a visible character', { field: 'title' })
  }
  const renamed = await updateRecord(directory, session, (record) => {
    if (record !== undefined || !create) {
      return { ...ownRecord(session, record, principal), title, isTitled: true }
    }
    const times = { createdAt: now, updatedAt: now }
    const state = 'active'
    return {
      id: session,
      owner: principal,
      title,
      isTitled: true,
      ...times,
      messages: 0,
      usage: [],
      state,
    }
  })
  if (renamed === undefined) throw noSession(session)
  return renamed
}

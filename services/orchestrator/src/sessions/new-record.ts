import type { SessionId, SessionRecord } from '@mcp-host/contracts'

/** The record of a session of which nothing was recorded yet. */
export function newRecord(session: SessionId, owner: string, now = Date.now()): SessionRecord {
  return {
    id: session,
    owner,
    title: '',
    isTitled: false,
    createdAt: now,
    updatedAt: now,
    messages: 0,
    usage: [],
    state: 'active',
  }
}

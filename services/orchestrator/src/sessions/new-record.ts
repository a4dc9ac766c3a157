import type { SessionId, SessionRecord } from '@mcp-host/contracts'

/** The first record of a session. */
export function newRecord(session: SessionId, owner: string, now: number): SessionRecord {
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

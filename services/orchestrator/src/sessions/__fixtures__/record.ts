import type { SessionRecord } from '@mcp-host/contracts'
import { newSessionId } from '@mcp-host/contracts'

/** The record of a session of `ann`. */
export function record(given: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: newSessionId(),
    owner: 'ann',
    title: 'a talk',
    isTitled: false,
    createdAt: 1_000,
    updatedAt: 2_000,
    messages: 1,
    usage: [],
    state: 'active',
    ...given,
  }
}

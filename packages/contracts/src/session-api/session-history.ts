import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { SessionId } from '../ids.ts'
import { HistoryMessage } from './history-message.ts'

/** Reads the newest branch of a session, in whole turns. Errors: `not-found`. */
export const sessionHistory = defineCall('session.history', {
  from: ['gateway'],
  to: ['orchestrator'],
  answeredBy: 'group',
  request: z.object({
    session: SessionId,
    /** The limit of turns; fewer when they would not fit into one message of the bus. */
    limit: z.number().int().min(1).max(100),
    /** The newest turns before the one of this user message; without it the newest of all. */
    before: z.string().optional(),
    /** Only the turn of this user message, on whichever branch. */
    only: z.string().optional(),
  }),
  reply: z.object({
    /** Oldest first. */
    messages: z.array(HistoryMessage),
    /** `before` of the next older page; absent on the last one. */
    next: z.string().optional(),
  }),
})
